package output

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Format is the value of the -o flag.
type Format string

// The formats.
const (
	JSON Format = "json"
	Text Format = "text"
)

// ParseFormat reads the value of the -o flag.
func ParseFormat(text string) (Format, error) {
	switch format := Format(text); format {
	case JSON, Text:
		return format, nil
	default:
		return "", fmt.Errorf("%q is neither json nor text", text)
	}
}

// Printer prints one line for each event. Not safe for concurrent use.
type Printer struct {
	format Format
	buffer *bufio.Writer
	lines  *json.Encoder
}

// NewPrinter prints to w.
func NewPrinter(w io.Writer, format Format) *Printer {
	buffer := bufio.NewWriter(w)
	lines := json.NewEncoder(buffer)
	lines.SetEscapeHTML(false)
	return &Printer{format: format, buffer: buffer, lines: lines}
}

// Event prints an event and flushes: a reader sees it at once.
func (p *Printer) Event(at time.Time, event core.Event) error {
	if p.format == JSON {
		if err := p.lines.Encode(eventJSON(at, event, true)); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintln(p.buffer, eventText(at, event)); err != nil {
		return err
	}
	return p.buffer.Flush()
}
