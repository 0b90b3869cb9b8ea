package podstream

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// repeated is a stream of n bytes that exists nowhere in full.
func repeated(pattern string, n int64) io.Reader {
	return io.LimitReader(&pump{pattern: []byte(strings.Repeat(pattern, 4096))}, n)
}

type pump struct {
	pattern []byte
	at      int
}

func (p *pump) Read(to []byte) (int, error) {
	n := copy(to, p.pattern[p.at:])
	p.at = (p.at + n) % len(p.pattern)
	return n, nil
}

func TestGarbageInBoundedMemory(t *testing.T) {
	for name, garbage := range map[string]struct {
		pattern string
		size    int64
	}{
		"no line ending":   {"garbage {\"kind\":\"Pod\"} ", 100 << 20},
		"NULs":             {"\x00", 100 << 20},
		"lines of text":    {"garbage, and a line ending\n", 100 << 20},
		"white space":      {" ", 100 << 20},
		"line endings":     {"\r\n", 20 << 20},
		"byte order marks": {"\xef\xbb\xbf", 3 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			reader := NewReader(io.MultiReader(bytes.NewReader(lined(pod(1))),
				repeated(garbage.pattern, garbage.size), bytes.NewReader(join("\n", lined(pod(2))))))
			before := allocated()
			items := withoutText(read(t, reader))
			expect(t, withoutProblems(items), changed(1), changed(2))
			if used := allocated() - before; used > 4<<20 {
				t.Errorf("%d bytes were allocated for %d bytes of garbage", used, garbage.size)
			}
		})
	}
}

// allocated is the number of bytes allocated so far, those freed again included.
func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// Work must not grow with the square of the input, whatever the nesting.
func TestHostileNestingTakesLinearTime(t *testing.T) {
	for name, hostile := range map[string]struct {
		pattern string
		size    int64
	}{
		"objects that begin lines": {"{\"a\":\n", 4 << 20},
		"objects in lists":         {"{\"a\":[{},\n{},\n", 2 << 20},
		"empty objects":            {"{},\n", 128 << 10},
		"openings":                 {"{\n", 128 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			reader := NewReader(io.MultiReader(repeated(hostile.pattern, hostile.size),
				bytes.NewReader(join("\n\"\n", lined(pod(1))))))
			start := time.Now()
			items := withoutText(read(t, reader))
			expect(t, withoutProblems(items), changed(1))
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%d bytes took %v", hostile.size, took)
			}
		})
	}
}

func TestObjectBeyondTheLimit(t *testing.T) {
	whole := bytes.TrimSpace(lined(pod(1)))
	for limit, want := range map[int][]string{
		len(whole):     {changed(1), changed(2)},
		len(whole) - 1: {"problem", "problem"},
	} {
		reader := NewReader(bytes.NewReader(join(whole, "\n", lined(pod(2)))))
		reader.maxObject = limit
		expect(t, withoutText(read(t, reader)), want...)
	}

	reader := NewReader(io.MultiReader(strings.NewReader(`{"a":"`), repeated("x", 5<<20),
		bytes.NewReader(join("\"}\n", lined(pod(1))))))
	reader.maxObject = 1 << 20
	expect(t, read(t, reader),
		"problem: object 1 (byte 0, line 1): larger than 1 MiB at byte 1048576, line 1", changed(1))
}

func TestLargeListAndThenLittleMemory(t *testing.T) {
	pods := make([]any, 5000)
	for i := range pods {
		pods[i] = without(pod(i), "spec", "status")
	}
	stream := indented(list(pods...))
	if len(stream) < 4*maxKept {
		t.Fatalf("the list has only %d bytes", len(stream))
	}
	reader := NewReader(io.MultiReader(bytes.NewReader(stream), bytes.NewReader(lined(pod(1)))))
	item, err := reader.Next()
	if err != nil {
		t.Fatal(err)
	}
	if got := len(item.(ListItem).Pods); got != len(pods) {
		t.Errorf("the list holds %d pods", got)
	}
	expect(t, read(t, reader), changed(1))
	if kept := cap(reader.window.buf); kept > maxKept {
		t.Errorf("a buffer of %d bytes is kept", kept)
	}
}

// An object is delivered when its last brace is there: nothing waits for the next byte.
func TestDeliversWithoutWaitingForMore(t *testing.T) {
	in, out := io.Pipe()
	reader := NewReader(in)
	for i, print := range []func(any) []byte{lined, indented, marshal} {
		go func() { _, _ = out.Write(bytes.TrimSpace(print(pod(i)))) }()
		expect(t, []string{next(t, reader)}, changed(i))
	}
	go func() { _, _ = out.Write([]byte("\nx\n")) }()
	if got := next(t, reader); !strings.HasPrefix(got, "problem: ") {
		t.Errorf("got %s", got)
	}
}

// next fails instead of hanging.
func next(t *testing.T, reader *Reader) string {
	t.Helper()
	got := make(chan string, 1)
	go func() {
		item, err := reader.Next()
		if err != nil {
			got <- "error: " + err.Error()
			return
		}
		got <- describe(item)
	}()
	select {
	case text := <-got:
		return text
	case <-time.After(10 * time.Second):
		t.Fatal("no item although its object is whole")
		return ""
	}
}

func TestReadErrorIsReturned(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for _, before := range []string{"", "{", "x", " ", "{\"a\":\"", "\xef"} {
		reader := NewReader(io.MultiReader(bytes.NewReader(lined(pod(1))),
			strings.NewReader(before), iotest.ErrReader(broken)))
		expect(t, []string{next(t, reader)}, changed(1))
		var err error
		for err == nil {
			_, err = reader.Next()
		}
		if !errors.Is(err, broken) {
			t.Errorf("behind %q: got %v", before, err)
		}
		if _, err = reader.Next(); !errors.Is(err, broken) {
			t.Errorf("behind %q, again: got %v", before, err)
		}
	}
}

// A reader whose own error is the one that json uses for a cut object has not ended.
func TestUnexpectedEOFOfTheInputIsItsError(t *testing.T) {
	reader := NewReader(io.MultiReader(strings.NewReader("{"),
		iotest.ErrReader(io.ErrUnexpectedEOF)))
	if item, err := reader.Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, %v", item, err)
	}
}

func TestReaderWithoutProgress(t *testing.T) {
	reader := NewReader(readerFunc(func([]byte) (int, error) { return 0, nil }))
	if _, err := reader.Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func BenchmarkList5000(b *testing.B) {
	pods := make([]any, 5000)
	for i := range pods {
		pods[i] = pod(i)
	}
	stream := indented(list(pods...))
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		if _, err := NewReader(bytes.NewReader(stream)).Next(); err != nil {
			b.Fatal(err)
		}
	}
}
