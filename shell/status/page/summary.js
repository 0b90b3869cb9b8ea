// What stands above the table.

import { absolute, now, span } from "./time.js";

const byId = (id) => document.getElementById(id);

export class Summary {
  #summary;
  #sources;

  show(summary) {
    this.#summary = summary;
    set("fleet-size", String(summary.fleet_size));
    set("candidates", String(summary.candidates));
    set("rejected", String(summary.rejected));
    set("ignored", String(summary.ignored));
    set("generation", String(summary.generation));
    set("gate", summary.gate_open ? "open" : `waiting for ${summary.missing.join(", ")}`);
    byId("gate").className = summary.gate_open ? "" : "long";
    set("build", summary.build);
    this.#showSources(summary.sources);
    this.#showProblems(summary.problems);
    this.tick();
  }

  // tick lets the view grow older.
  tick() {
    if (this.#summary === undefined) return;
    const { view_time, view_age_seconds, time, stale_after_seconds, audit } = this.#summary;
    const since = now() - Date.parse(time);
    const age = view_age_seconds * 1000 + since;
    set("view-age", view_time === "" ? "never seen" : span(age));
    byId("view-age").title = absolute(view_time);
    byId("audit").hidden = audit === null;
    if (audit !== null) {
      const verified = audit.verified_age_seconds * 1000 + since;
      set("verified", audit.verified_time === "" ? "not yet" : `${span(verified)} ago`);
      byId("verified").title = absolute(audit.verified_time);
    }
    const stale = stale_after_seconds > 0 && age > stale_after_seconds * 1000;
    byId("stale").hidden = !stale;
    if (stale) {
      const seen = view_time === "" ? "have never been read" : `were last known to be up to date ${span(age)} ago`;
      set("stale", `The pods ${seen}: the store, or the API server behind it, cannot be read. The last fleet stands.`);
    }
  }

  // What is shown again as it was stays as it is, so that a reader does not hear it again.
  #showSources(sources) {
    const shown = JSON.stringify(sources);
    if (shown === this.#sources) return;
    this.#sources = shown;
    byId("sources").hidden = sources.length === 0;
    byId("sources").replaceChildren(...sources.map(({ kind, name, state, error }) => {
      const item = document.createElement("li");
      item.dataset.kind = kind;
      item.textContent = `${name}: ${[state, error].filter((part) => part !== "").join("; ")}`;
      item.classList.toggle("warning", error !== "");
      if (error !== "") item.setAttribute("role", "alert");
      return item;
    }));
  }

  #showProblems(problems) {
    byId("problems").hidden = problems.length === 0;
    if (problems.length === 0) return;
    const newest = problems.reduce((a, b) => (b.time > a.time ? b : a));
    set("last-problem", line(newest));
    const items = problems.map((problem) => {
      const item = document.createElement("li");
      item.textContent = `${line(problem)} (${problem.count} of this kind)`;
      return item;
    });
    byId("problem-list").replaceChildren(...items);
  }
}

const line = (problem) => `${absolute(problem.time)}, ${problem.kind.replaceAll("_", " ")}: ${problem.text}`;

function set(id, text) {
  const node = byId(id);
  if (node.textContent !== text) node.textContent = text;
}
