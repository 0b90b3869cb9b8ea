// Which pods are shown: those that hold every word and have one of the verdicts chosen. It is kept
// in the address, so that it can be sent around and outlives a reload.

const verdicts = ["admitted", "candidate", "rejected", "ignored", "undecided"];

export class Filter {
  #input = document.getElementById("filter-text");
  #chips = new Map();
  #words = [];
  #chosen = new Set();
  #changed = () => {};

  // changed is called when somebody filters.
  constructor(changed) {
    const group = document.getElementById("verdicts");
    for (const verdict of verdicts) {
      const chip = document.createElement("button");
      chip.type = "button";
      chip.dataset.verdict = verdict;
      chip.addEventListener("click", () => this.#toggle(verdict));
      group.append(chip);
      this.#chips.set(verdict, chip);
    }
    this.#input.addEventListener("input", () => this.#write());
    document.getElementById("filter").addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", () => this.#read());
    this.count(new Map());
    this.#read();
    this.#changed = changed;
  }

  // matches takes a verdict and a text in lower case.
  matches(verdict, text) {
    return (this.#chosen.size === 0 || this.#chosen.has(verdict)) && this.#words.every((word) => text.includes(word));
  }

  // count shows how many pods have each verdict.
  count(pods) {
    for (const [verdict, chip] of this.#chips) {
      const label = `${verdict} ${pods.get(verdict) ?? 0}`;
      if (chip.textContent !== label) chip.textContent = label;
      chip.hidden = verdict === "undecided" && !pods.has(verdict);
    }
  }

  #toggle(verdict) {
    if (!this.#chosen.delete(verdict)) this.#chosen.add(verdict);
    this.#write();
  }

  #write() {
    const parameters = new URLSearchParams();
    if (this.#input.value !== "") parameters.set("q", this.#input.value);
    if (this.#chosen.size > 0) parameters.set("verdict", [...this.#chosen].join(","));
    history.replaceState(null, "", "#" + parameters);
    this.#apply();
  }

  #read() {
    const parameters = new URLSearchParams(location.hash.slice(1));
    this.#input.value = parameters.get("q") ?? "";
    this.#chosen = new Set((parameters.get("verdict") ?? "").split(",").filter((verdict) => this.#chips.has(verdict)));
    this.#apply();
  }

  #apply() {
    this.#words = this.#input.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    for (const [verdict, chip] of this.#chips) chip.setAttribute("aria-pressed", this.#chosen.has(verdict));
    this.#changed();
  }
}
