package inputlog

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"github.com/go-faster/jx"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Digester digests the effects of steps: two lists have the same digest if they tell the shell to
// do the same. Not safe for concurrent use.
//
// A publication is digested by what is new in it, since the rest was new in an earlier one: the
// cost grows with the change, not with the fleet.
type Digester struct {
	// password gives what stands for a password.
	password func(core.Secret) string
	buffer   []byte
}

// NewDigester makes a digester for the effects of a replay, whose passwords are the placeholders
// that the Reader has put in their place. Of any other password it digests nothing.
func NewDigester() *Digester {
	return &Digester{password: func(password core.Secret) string {
		placeholder := password.Reveal()
		if placeholderNumber(placeholder) == 0 {
			return ""
		}
		return placeholder
	}}
}

// digestBytes is how much of the SHA-256 a digest keeps.
const digestBytes = 16

// maxKeptBuffer bounds the memory kept between records, in bytes.
const maxKeptBuffer = 1 << 20

// Sum is the digest: 32 hexadecimal digits, never empty.
func (d *Digester) Sum(effects []core.Effect) string {
	d.buffer = binary.AppendUvarint(d.buffer[:0], uint64(len(effects)))
	for _, effect := range effects {
		d.effect(effect)
	}
	sum := sha256.Sum256(d.buffer)
	if cap(d.buffer) > maxKeptBuffer {
		d.buffer = nil
	}
	var digits [2 * digestBytes]byte
	hex.Encode(digits[:], sum[:digestBytes])
	return string(digits[:])
}

// decodeDigest reads a digest, or an empty text where it is not known.
func decodeDigest(json *jx.Decoder) (string, error) {
	text, err := json.StrBytes()
	if err != nil || len(text) == 0 {
		return "", err
	}
	if len(text) != 2*digestBytes {
		return "", errors.New("a digest of effects has the wrong length")
	}
	if !isLowerHex(text) {
		return "", errors.New("a digest of effects is not in lower-case hexadecimal digits")
	}
	return string(text), nil
}

// Every effect and event begins with a tag, every text and list with its length: no two lists of
// effects have the same encoding. The tags are part of the format.
const (
	tagNone byte = iota
	tagStartProbe
	tagCancelProbe
	tagStartTimer
	tagStopTimer
	tagPublishDiscovered
	tagPublishTerminated
	tagPublishRejected
	tagRefuse
	tagPublishNone
)

func (d *Digester) effect(effect core.Effect) {
	switch effect := effect.(type) {
	case core.StartProbe:
		d.tag(tagStartProbe)
		d.number(uint64(effect.Probe))
		d.identity(effect.Identity)
		d.credentials(effect.Credentials)
		d.number(uint64(effect.Timeout))
	case core.CancelProbe:
		d.tag(tagCancelProbe)
		d.number(uint64(effect.Probe))
	case core.StartTimer:
		d.tag(tagStartTimer)
		d.number(uint64(effect.Timer))
		d.number(uint64(effect.After))
	case core.StopTimer:
		d.tag(tagStopTimer)
		d.number(uint64(effect.Timer))
	case core.Publish:
		d.event(effect.Event)
	case core.Refuse:
		d.tag(tagRefuse)
		d.text(effect.Reason)
	default:
		d.tag(tagNone)
	}
}

func (d *Digester) event(event core.Event) {
	switch event := event.(type) {
	case core.HAProxyPodsDiscovered:
		d.discovered(event)
	case core.HAProxyPodTerminated:
		d.tag(tagPublishTerminated)
		d.identity(event.Identity)
		d.text(string(event.Cause))
	case core.HAProxyPodRejected:
		d.tag(tagPublishRejected)
		d.text(event.Namespace)
		d.text(event.Name)
		d.text(event.UID)
		d.text(string(event.Reason))
		d.text(string(event.Cause))
		d.text(event.Detail)
		d.number(uint64(event.Attempt))
		d.number(uint64(event.RetryIn))
	default:
		d.tag(tagPublishNone)
	}
}

func (d *Digester) discovered(event core.HAProxyPodsDiscovered) {
	d.tag(tagPublishDiscovered)
	d.number(event.Generation)
	d.text(string(event.Trigger))
	d.flag(event.Replay)
	d.flag(event.CredentialsChanged)
	d.number(uint64(event.Fleet.Len()))
	d.credentials(event.Fleet.Credentials())
	d.endpoints(event.Fleet, event.Added)
	d.endpoints(event.Fleet, event.Updated)
	d.number(uint64(len(event.Removed)))
	for _, key := range event.Removed {
		d.key(key)
	}
}

// endpoints are digested with what the fleet holds under their keys.
func (d *Digester) endpoints(fleet core.Fleet, keys []core.PodKey) {
	d.number(uint64(len(keys)))
	for _, key := range keys {
		d.key(key)
		endpoint, found := fleet.Get(key)
		d.flag(found)
		d.identity(endpoint.Identity)
		d.text(endpoint.Version.Text)
		d.number(uint64(endpoint.Version.Major))
		d.number(uint64(endpoint.Version.Minor))
	}
}

func (d *Digester) identity(identity core.Identity) {
	d.key(identity.Key())
	d.text(identity.UID)
	d.text(string(identity.RuntimeID))
	d.text(identity.URL)
}

func (d *Digester) credentials(credentials core.Credentials) {
	d.flag(!credentials.IsZero())
	if !credentials.IsZero() {
		d.text(credentials.Username())
		d.text(d.password(credentials.Password()))
	}
}

func (d *Digester) key(key core.PodKey) {
	d.text(key.Namespace)
	d.text(key.Name)
}

func (d *Digester) text(text string) {
	d.number(uint64(len(text)))
	d.buffer = append(d.buffer, text...)
}

func (d *Digester) flag(flag bool) {
	if flag {
		d.tag(1)
	} else {
		d.tag(0)
	}
}

func (d *Digester) number(number uint64) { d.buffer = binary.AppendUvarint(d.buffer, number) }
func (d *Digester) tag(tag byte)         { d.buffer = append(d.buffer, tag) }
