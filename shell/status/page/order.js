// The order of the pods: by a column, and within it as people count names, hap-2 before hap-10.

const natural = new Intl.Collator("en", { numeric: true });

const values = {
  verdict: (pod) => pod.verdict,
  reason: (pod) => pod.reason,
  cause: (pod) => `${pod.cause} ${pod.detail}`,
  attempts: (pod) => pod.attempts,
  retry: (pod) => Date.parse(pod.next_retry) || Infinity,
  version: (pod) => pod.version,
  "runtime-id": (pod) => pod.runtime_id,
  url: (pod) => pod.url,
  since: (pod) => Date.parse(pod.since),
};

// byColumn gives how two pods compare; those that are equal in the column go by name.
export function byColumn(column, descending) {
  const value = values[column];
  const sign = descending ? -1 : 1;
  if (value === undefined) return (a, b) => sign * byName(a, b);
  return (a, b) => sign * compare(value(a), value(b)) || byName(a, b);
}

const byName = (a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name);

function compare(a, b) {
  if (typeof a === "number") return a < b ? -1 : a > b ? 1 : 0;
  return natural.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}
