// Package status shows a running component over HTTP: a page for people, JSON for scripts, health
// for a kubelet. It only reads, answers GET and HEAD, and shows no secret.
//
//	/             the status page: every pod with its verdict, live
//	/debug/fleet  the same as JSON
//	/events       what the page follows: server-sent events
//	/healthz      200 while the component's loop takes up what is put into it, else 503
//	/readyz       200 once the gate is open, else 503 and one line that says what is missing
//	/metrics      if the Options have a handler for it
//
// healthz fails when the loop hangs (in a pod store that does not return, for instance) and before
// and after it runs; restarting the program is the cure. An unreachable API server or a fleet that
// does not answer is no failure of the program: the last fleet stands, and the page and the metrics
// tell how old the view is. readyz tells that config, credentials, a pod store and its initial sync
// were known once; it never goes back.
//
// A Page is both the observer that knows and the handler that shows. It can be mounted under any
// path that ends with a slash, since its own links are relative:
//
//	page := status.New(status.Options{})
//	component := shell.New(bus, logger, shell.WithObserver(page))
//	mux.Handle("/discovery/", http.StripPrefix("/discovery", page))
//
// Serve runs a server of its own, with time limits, that ends within half a second of its context.
// Who mounts the handler on another server should see that requests' contexts end when that shuts
// down (http.Server.BaseContext), or open pages will hold it up.
package status
