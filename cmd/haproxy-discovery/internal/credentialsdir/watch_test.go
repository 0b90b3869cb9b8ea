package credentialsdir

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const interval = time.Second

// story runs a Watch in virtual time and collects, in order, the passwords and problems it reports.
type story struct {
	t   *testing.T
	dir string

	mu    sync.Mutex
	seen  []string
	error string
}

func (s *story) report(what, err string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.error = append(s.seen, what), err
}

func (s *story) run(tell func()) {
	synctest.Test(s.t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		last, err := Read(s.dir)
		must(t, err)
		go Watch(ctx, s.dir, interval, last,
			func(c core.Credentials) { s.report(c.Password().Reveal(), "") },
			func(err error) {
				if err == nil {
					s.report("well again", "")
					return
				}
				s.report("problem", err.Error())
			})
		synctest.Wait()
		tell()
		cancel()
	})
}

// polls lets the watch read the directory n times.
func (s *story) polls(n int) {
	time.Sleep(time.Duration(n) * interval)
	synctest.Wait()
}

func (s *story) expect(seen ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.seen, seen) {
		s.t.Errorf("reported %q, want %q", s.seen, seen)
	}
	s.seen = nil
}

func TestWatchReportsAChangeOnce(t *testing.T) {
	s := &story{t: t, dir: credentialsIn(t, "admin", "one")}
	s.run(func() {
		s.polls(5)
		s.expect()
		write(t, s.dir, passwordFile, "two\n")
		s.polls(2)
		s.expect("two")
		write(t, s.dir, passwordFile, "two")
		s.polls(5)
		s.expect()
		write(t, s.dir, usernameFile, "root")
		s.polls(5)
		s.expect("two")
	})
}

func TestWatchReportsNothingThatHadGoneBack(t *testing.T) {
	s := &story{t: t, dir: credentialsIn(t, "admin", "one")}
	s.run(func() {
		for range 3 {
			write(t, s.dir, passwordFile, "two")
			s.polls(1)
			write(t, s.dir, passwordFile, "one")
			s.polls(1)
		}
		s.polls(3)
		s.expect()
	})
}

// Both files change, with a reading between the two writes.
func TestWatchNeverTakesHalfAChange(t *testing.T) {
	s := &story{t: t, dir: credentialsIn(t, "admin", "one")}
	s.run(func() {
		write(t, s.dir, passwordFile, "two")
		s.polls(1)
		write(t, s.dir, usernameFile, "root")
		s.polls(1)
		s.expect()
		s.polls(1)
		s.expect("two")
		s.polls(5)
		s.expect()
	})
}

func TestR27WatchReportsAProblemOnceAndKeepsTheOld(t *testing.T) {
	s := &story{t: t, dir: credentialsIn(t, "admin", "one")}
	s.run(func() {
		write(t, s.dir, passwordFile, "")
		s.polls(10)
		s.expect("problem")
		must(t, os.Remove(filepath.Join(s.dir, passwordFile)))
		s.polls(10)
		s.expect("problem")
		if want := `credentials file "` + s.dir + `/dataplane_password" cannot be read: ` +
			`no such file or directory`; s.error != want {
			t.Errorf("got %s, want %s", s.error, want)
		}
		write(t, s.dir, passwordFile, "one")
		s.polls(10)
		s.expect("well again")
		must(t, os.Remove(filepath.Join(s.dir, passwordFile)))
		s.polls(10)
		s.expect("problem")
		write(t, s.dir, passwordFile, "two")
		s.polls(10)
		s.expect("well again", "two")
	})
}

// A file is empty for the moment between truncation and writing, or absent between two renames.
func TestWatchIgnoresAMomentaryProblem(t *testing.T) {
	s := &story{t: t, dir: credentialsIn(t, "admin", "one")}
	s.run(func() {
		write(t, s.dir, passwordFile, "")
		s.polls(1)
		write(t, s.dir, passwordFile, "two")
		s.polls(5)
		s.expect("two")
	})
}

// The kubelet writes a new directory and swaps the symlink ..data to it.
func TestWatchFollowsAMountedSecret(t *testing.T) {
	dir := t.TempDir()
	swap := func(version, username, password string) {
		t.Helper()
		must(t, os.Mkdir(filepath.Join(dir, version), 0o700))
		write(t, filepath.Join(dir, version), usernameFile, username)
		write(t, filepath.Join(dir, version), passwordFile, password)
		must(t, os.Symlink(version, filepath.Join(dir, "..data_tmp")))
		must(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	}
	swap("..2026_01_01", "admin", "one")
	for _, name := range []string{usernameFile, passwordFile} {
		must(t, os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)))
	}
	s := &story{t: t, dir: dir}
	s.run(func() {
		swap("..2026_01_02", "admin", "two")
		must(t, os.RemoveAll(filepath.Join(dir, "..2026_01_01")))
		s.polls(2)
		s.expect("two")
		swap("..2026_01_03", "root", "three")
		s.polls(2)
		s.expect("three")
		must(t, os.RemoveAll(filepath.Join(dir, "..2026_01_03")))
		s.polls(5)
		s.expect("problem")
	})
}

func TestWatchEndsWithItsContext(t *testing.T) {
	dir := credentialsIn(t, "admin", "one")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	Watch(ctx, dir, interval, core.Credentials{},
		func(core.Credentials) { t.Error("updated") }, func(err error) { t.Error(err) })
}
