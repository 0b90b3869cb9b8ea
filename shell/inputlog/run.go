package inputlog

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-faster/jx"
	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Run describes one run of a program that records. It stands in the header of a log and in each
// restart record.
type Run struct {
	// Build names the program's build, for people.
	Build string
	// Started is the wall time at which the run began.
	Started time.Time
	// Config is what the reducer was started with; a replay has to start with the same.
	Config core.Config
}

// configField is one field of core.Config in the log: a text, a number or a duration, which is
// written like 1m30s.
type configField struct {
	name     string
	text     *string
	number   *int
	duration *time.Duration
}

func configFields(config *core.Config) []configField {
	return []configField{
		{name: "agent_container", text: &config.AgentContainer},
		{name: "agent_scheme", text: &config.AgentScheme},
		{name: "max_probes", number: &config.MaxProbes},
		{name: "max_retries", number: &config.MaxRetries},
		{name: "probe_timeout", duration: &config.ProbeTimeout},
		{name: "max_probe_timeout", duration: &config.MaxProbeTimeout},
		{name: "retry_delay", duration: &config.RetryDelay},
		{name: "max_retry_delay", duration: &config.MaxRetryDelay},
		{name: "publish_delay", duration: &config.PublishDelay},
		{name: "first_publish_delay", duration: &config.FirstPublishDelay},
	}
}

// config writes the defaults out, so that a later build with other ones replays the same.
func (e *encoder) config(config core.Config) {
	defaults := core.DefaultConfig()
	fallback := configFields(&defaults)
	e.json.ObjStart()
	for i, field := range configFields(&config) {
		switch {
		case field.text != nil:
			e.textField(field.name, cmp.Or(*field.text, *fallback[i].text))
		case field.number != nil:
			e.json.FieldStart(field.name)
			e.integer(cmp.Or(*field.number, *fallback[i].number))
		default:
			duration := cmp.Or(*field.duration, *fallback[i].duration)
			e.textField(field.name, duration.String())
		}
	}
	e.json.ObjEnd()
}

func (d *decoder) config(json *jx.Decoder) (config core.Config, err error) {
	fields := configFields(&config)
	names := lo.Map(fields, func(field configField, _ int) string { return field.name })
	err = decodeObject(json, names, func(name string) error {
		return fields[slices.Index(names, name)].decode(json)
	})
	return config, err
}

func (f configField) decode(json *jx.Decoder) (err error) {
	switch {
	case f.text != nil:
		*f.text, err = decodeText(json)
	case f.number != nil:
		*f.number, err = decodeInteger(json)
	default:
		var text string
		if text, err = decodeText(json); err == nil {
			*f.duration, err = time.ParseDuration(text)
		}
	}
	return err
}
