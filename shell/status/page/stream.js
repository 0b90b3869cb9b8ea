// The connection to the server: server-sent events, opened again and again when it breaks.

const silence = 15_000; // the server says something every 5 s
const retryAfter = 1_000;

// follow calls onMessage with each message and onState with "live" and "disconnected".
export function follow(onMessage, onState) {
  let source, watchdog;

  function open() {
    source = new EventSource("events");
    source.onmessage = (event) => {
      watch();
      onState("live");
      onMessage(JSON.parse(event.data));
    };
    source.onerror = reopen;
    watch();
  }

  function reopen() {
    source.close();
    clearTimeout(watchdog);
    onState("disconnected");
    setTimeout(open, retryAfter);
  }

  function watch() {
    clearTimeout(watchdog);
    watchdog = setTimeout(reopen, silence);
  }

  open();
}
