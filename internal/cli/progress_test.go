package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

func ramping(elapsed time.Duration, step int, asked, sent int64) runner.Progress {
	return runner.Progress{Phase: report.Ramping, Elapsed: elapsed, Step: step, Steps: 10, Percent: step * 10,
		Remaining:                20 * time.Second,
		IntendedPacketsPerSecond: asked, OfferedPacketsPerSecond: sent, ReceivedPacketsPerSecond: sent}
}

func TestProgress(t *testing.T) {
	t.Run("piped, a line for each phase and now and then one between", func(t *testing.T) {
		var stderr bytes.Buffer
		v := newProgressView(&stderr, "t", false)
		v.show(runner.Progress{Phase: runner.Preparing, Message: "taking the ports"})
		for second := range 21 {
			v.show(ramping(time.Duration(second)*time.Second, 1, 1000, 999))
		}
		v.show(runner.Progress{Phase: runner.Ended, Elapsed: 22 * time.Second})
		v.close()
		want := "t: preparing: taking the ports\n" +
			"t: ramping 1/10: asked 1.00 kpps, about 20s left\n" +
			"t: ramping 1/10: asked 1.00 kpps, sent 999.00 pps, received 999.00 pps, lost 0.00 %, about 20s left\n" +
			"t: ramping 1/10: asked 1.00 kpps, sent 999.00 pps, received 999.00 pps, lost 0.00 %, about 20s left\n" +
			"t: done\n"
		if stderr.String() != want {
			t.Errorf("got\n%s\nwant\n%s", stderr.String(), want)
		}
	})
	t.Run("figures of the load before are never put beside what is asked now", func(t *testing.T) {
		var stderr bytes.Buffer
		v := newProgressView(&stderr, "t", false)
		v.live, v.width = true, func() int { return 200 }
		v.show(ramping(time.Second, 1, 1000, 999))
		v.show(ramping(2*time.Second, 1, 1000, 999))
		stderr.Reset()
		v.show(ramping(3*time.Second, 2, 2000, 999))
		const want = "asked 2.00 kpps, about 20s left; before: asked 1.00 kpps, sent 999.00 pps"
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%q does not say %q", stderr.String(), want)
		}
	})
	t.Run("on a terminal, one line that fits and is gone in the end", func(t *testing.T) {
		var stderr bytes.Buffer
		v := newProgressView(&stderr, "a-long-name", false)
		v.live, v.width = true, func() int { return 40 }
		v.show(ramping(time.Second, 3, 1000, 999))
		v.show(ramping(2*time.Second, 3, 1000, 999))
		for line := range strings.SplitSeq(stderr.String(), "\r\x1b[K") {
			if len([]rune(line)) > 39 {
				t.Errorf("%d characters in 40 columns: %q", len([]rune(line)), line)
			}
		}
		if !strings.Contains(stderr.String(), "▕██████░░░░░░░░░░░░░░▏  30") {
			t.Errorf("no bar of 30 %%: %q", stderr.String())
		}
		v.close()
		if !strings.HasSuffix(stderr.String(), "\r\x1b[K") || strings.Contains(stderr.String(), "\n") {
			t.Errorf("the terminal is not left clean: %q", stderr.String())
		}
	})
	t.Run("of sessions the goodput of the moment, also where nothing comes", func(t *testing.T) {
		var stderr bytes.Buffer
		v := newProgressView(&stderr, "t", false)
		v.live, v.width = true, func() int { return 200 }
		for _, goodput := range []*int64{nil, new(int64(92_900_000)), new(int64)} {
			v.show(runner.Progress{Phase: report.Hold, Percent: 40, Remaining: 12 * time.Second,
				GoodputBitsPerSecond: goodput, Message: "connections send"})
		}
		want := []string{"t ▕████████░░░░░░░░░░░░▏  40 %  holding: connections send",
			"t ▕████████░░░░░░░░░░░░▏  40 %  holding: 92.90 Mb/s goodput, about 12s left",
			"t ▕████████░░░░░░░░░░░░▏  40 %  holding: 0.00 b/s goodput, about 12s left"}
		if got := strings.Split(stderr.String(), "\r\x1b[K")[1:]; !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
	t.Run("quiet says nothing", func(t *testing.T) {
		var stderr bytes.Buffer
		v := newProgressView(&stderr, "t", true)
		v.show(ramping(time.Second, 1, 1000, 999))
		v.close()
		if stderr.Len() != 0 {
			t.Errorf("said %q", stderr.String())
		}
	})
}
