package kubernetes

import "time"

// View is how well a watch sees the cluster, at one moment. What the watch has seen stays in use
// while contact is lost; the age tells how old it is.
type View struct {
	// Resource is what is watched: pods, or the Secret with the credentials.
	Resource string
	// Synced tells that the initial list is complete.
	Synced bool
	// Connected tells that a watch is open. The API server is then known to have been there within
	// the last 90 seconds: a watch that is silent for longer is opened anew. A connection over HTTP/2
	// that does not answer is given up after 45 seconds. With a server in good health, changes arrive
	// within milliseconds.
	Connected bool
	// LastContact is when the API server was last heard of, or found to be gone while a watch was
	// open; now, while one is open. Zero before the first contact.
	LastContact time.Time
	// LastError says why there is no contact, what was asked of whom, and what to do; one line
	// without any secret. Empty once there is contact again.
	LastError string
}

// Age is the time since the last contact: 0 while connected, negative before the first contact.
func (v View) Age(now time.Time) time.Duration {
	switch {
	case v.Connected:
		return 0
	case v.LastContact.IsZero():
		return -1
	default:
		return max(0, now.Sub(v.LastContact))
	}
}
