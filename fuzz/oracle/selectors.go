package oracle

// selectors are the only ones that the oracle understands, read by hand; all others it takes for
// invalid.
var selectors = map[string]func(labels map[string]string) bool{
	"":       func(map[string]string) bool { return true },
	"app=lb": func(l map[string]string) bool { return l["app"] == "lb" },
	"app in (lb, web)": func(l map[string]string) bool {
		return l["app"] == "lb" || l["app"] == "web"
	},
	"app=lb,tier!=old": func(l map[string]string) bool {
		return l["app"] == "lb" && l["tier"] != "old"
	},
	"tier":  func(l map[string]string) bool { _, has := l["tier"]; return has },
	"!tier": func(l map[string]string) bool { _, has := l["tier"]; return !has },
}

// Selectors lists the selectors that a story may use, the usual one first, and InvalidSelector one
// that nobody accepts.
var Selectors = []string{"app=lb", "", "app in (lb, web)", "app=lb,tier!=old", "tier", "!tier"}

// InvalidSelector is refused by core and oracle alike.
const InvalidSelector = "app==,"

// Selects tells whether one of the selectors selects a pod with these labels.
func Selects(selector string, labels map[string]string) bool { return selectors[selector](labels) }
