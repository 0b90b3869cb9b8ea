// The status page: a stream of changes in, a summary and a table of pods out.

import { Filter } from "./filter.js";
import { PodTable } from "./pods.js";
import { follow } from "./stream.js";
import { Summary } from "./summary.js";
import { setServerTime } from "./time.js";

const summary = new Summary();
const table = new PodTable();
const filter = new Filter(showMatching);

function showMatching() {
  const shown = table.filter((verdict, text) => filter.matches(verdict, text));
  const pods = table.size === 1 ? "pod" : "pods";
  const count = shown === table.size ? `${shown} ${pods}` : `${shown} of ${table.size} ${pods}`;
  const status = document.getElementById("shown");
  if (status.textContent !== count) status.textContent = count;
  const empty = document.getElementById("empty");
  empty.hidden = shown > 0;
  empty.textContent = table.size === 0 ? "No pods are known." : "No pod matches the filter.";
}

function showConnection(state) {
  const connection = document.getElementById("connection");
  if (connection.dataset.state === state) return;
  connection.dataset.state = document.body.dataset.connection = state;
  connection.textContent = state === "live" ? "live" : "disconnected, trying again";
}

follow((message) => {
  performance.mark("message");
  setServerTime(message.summary.time);
  summary.show(message.summary);
  table.apply(message.pods, message.gone, message.reset);
  filter.count(table.counts());
  showMatching();
  performance.measure(message.reset ? "render" : "update", "message");
}, showConnection);

setInterval(() => {
  summary.tick();
  table.tick();
}, 1000);
