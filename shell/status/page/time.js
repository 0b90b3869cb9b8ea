// Ages and countdowns, by the server's clock: a browser's may be off.

let offset = 0;

export function setServerTime(text) {
  offset = Date.parse(text) - Date.now();
}

export function now() {
  return Date.now() + offset;
}

// span is a duration in its two largest units.
export function span(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
  if (days > 0) return `${days}d ${hours % 24}h`;
  if (hours > 0) return `${hours}h ${minutes % 60}m`;
  if (minutes > 0) return `${minutes}m ${seconds % 60}s`;
  return `${seconds}s`;
}

const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

// absolute is a time for people, with its zone.
export function absolute(text) {
  return text === "" ? "" : format.format(new Date(text));
}
