//go:build full

package delivery

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

func TestARunInACluster(t *testing.T) {
	t.Parallel()
	r := newRig(t, known("32s"))
	begin := time.Now()
	if code := r.start(t, "a").wait(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	took := time.Since(begin)
	t.Run("leaves the answer, final and sealed", func(t *testing.T) {
		got, e := r.report(t)
		if !got.Answer.Measured {
			t.Fatalf("%s: %s", got.Ending, got.Message)
		}
		answer := got.Answer.Directions[0].Received.PacketsPerSecond
		if !e.Final || e.Ending != "Completed" || !got.Answer.Saturated || answer < 970 || answer > 1010 {
			t.Errorf("%+v: %d packets/s, %s", e, answer, got.Answer.EvidenceText())
		}
		if g := got.Generators[0]; g.Pod != "t-1-generator-0" || g.Node != "n1" {
			t.Errorf("generator %+v", g)
		}
	})
	t.Run("leaves its Progress at its end", func(t *testing.T) {
		if p := r.progress(t); p.Phase != "Ended" || p.Percent != 100 || p.Run != 1 {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("asks the API server at most 16 times a minute", func(t *testing.T) {
		asked := r.gate.requests()
		t.Logf("%d requests in %s", len(asked), took.Round(time.Second))
		if len(asked) > 16 {
			t.Errorf("%d requests:\n%s", len(asked), strings.Join(asked, "\n"))
		}
	})
}

func TestARunnerThatIsKilled(t *testing.T) {
	t.Parallel()
	r := newRigWith(t, known("16s"), podRights)
	first := r.start(t, "a")
	r.await(t, "a", "Ramping")
	_ = first.cmd.Process.Kill()
	first.wait(t)
	if code := r.start(t, "b", "--earlier", r.left(t)).wait(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	got, e := r.report(t)
	if !e.Final || got.Ending != report.Completed || !strings.Contains(got.Notes[0].Message, "run 1 in pod pod-a was lost in phase Ramping") {
		t.Errorf("%+v, first note %q", e, got.Notes[0].Message)
	}
	if p := r.progress(t); p.Run != 2 || len(p.LostRuns) != 1 || p.RunnerUID != "b" {
		t.Errorf("progress %+v", p)
	}
}

func TestARunnerThatIsReplacedWhileItLives(t *testing.T) {
	t.Parallel()
	r := newRig(t, known("16s"))
	first := r.start(t, "a")
	r.await(t, "a", "Ramping")
	second := r.start(t, "b")
	if code := first.wait(t); code != 3 {
		t.Errorf("the first one's exit code is %d", code)
	}
	words, err := os.ReadFile(first.lastWords)
	if err != nil || !strings.Contains(string(words), "another runner has taken over: run 2 of attempt 1 has begun") {
		t.Errorf("its last words are %q, %v", words, err)
	}
	if code := second.wait(t); code != 0 {
		t.Errorf("the second one's exit code is %d", code)
	}
	if got, e := r.report(t); !e.Final || got.Ending != report.Completed || !got.Answer.Saturated {
		t.Errorf("%+v, %s: %s", e, got.Ending, got.Message)
	}
}

func TestAnAPIServerThatIsAwayForTwentySeconds(t *testing.T) {
	t.Parallel()
	r := newRig(t, known("16s"))
	runner := r.start(t, "a")
	r.await(t, "a", "Ramping")
	r.gate.set(true)
	cut := time.AfterFunc(20*time.Second, func() { r.gate.set(false) })
	defer cut.Stop()
	if code := runner.wait(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	got, e := r.report(t)
	if !e.Final || got.Ending != report.Completed || !got.Answer.Saturated {
		t.Errorf("%+v: %s", e, got.Answer.EvidenceText())
	}
}
