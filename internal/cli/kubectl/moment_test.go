package kubectl

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// told has the operator tell what a runner told it.
func withProgress(p v1alpha1.Progress) func(*v1alpha1.LoadTest) {
	return func(test *v1alpha1.LoadTest) { test.Status.Progress = &p }
}

func ramping(run int32) func(*v1alpha1.LoadTest) {
	return withProgress(v1alpha1.Progress{Run: run, Phase: "Ramping", Step: 3, Steps: 20, Percent: new(int32(17)),
		RemainingSeconds:         90,
		IntendedPacketsPerSecond: 20_000, OfferedPacketsPerSecond: 19_990, ReceivedPacketsPerSecond: 19_980,
		LossRatio: "0.05%"})
}

func TestSentence(t *testing.T) {
	for name, c := range map[string]struct {
		test v1alpha1.LoadTest
		want string
	}{
		"before the operator's first look": {newLoadTest("t", 0),
			"waiting for the operator to look at it; if that doesn't change, kubectl linerate doctor says why"},
		"waiting": {newLoadTest("t", 0, waiting(v1alpha1.ReasonNetworkMissing,
			"network lab/west doesn't exist")), "waiting (NetworkMissing): network lab/west doesn't exist"},
		"running, in the runner's words": {newLoadTest("t", 0, running("Ramping", 10), ramping(1)),
			"ramping 3/20: asked 20.00 kpps, sent 19.99 kpps, received 19.98 kpps, lost 0.05 %, about 1m30s left"},
		"sessions": {newLoadTest("t", 0, running("Holding", 10), withProgress(v1alpha1.Progress{Run: 1, Phase: "Holding",
			RemainingSeconds: 12, GoodputBitsPerSecond: new(int64(92_900_000))})),
			"holding: 92.90 Mb/s goodput, about 12s left"},
		"sessions at a standstill": {newLoadTest("t", 0, running("Holding", 10),
			withProgress(v1alpha1.Progress{Run: 1, Phase: "Holding", GoodputBitsPerSecond: new(int64)})),
			"holding: 0.00 b/s goodput"},
		"a second run": {newLoadTest("t", 0, running("Ramping", 10), ramping(2)),
			"(run 2, the one before was lost) ramping 3/20: asked 20.00 kpps, sent 19.99 kpps, received 19.98 kpps, " +
				"lost 0.05 %, about 1m30s left"},
		"giving back": {newLoadTest("t", 0, condition(v1alpha1.ConditionComplete, metav1.ConditionFalse,
			v1alpha1.ReasonMeasured, "x")), "ending as Measured: giving pods and devices back"},
		"measured": {newLoadTest("t", 0, complete(v1alpha1.ReasonMeasured, "2 directions")),
			"measured: 2 directions"},
		"ended otherwise": {newLoadTest("t", 0, complete(v1alpha1.ReasonDUTFailed, "out of memory")),
			"ended as DUTFailed: out of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (testMoment{&c.test}).sentence(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestBoard(t *testing.T) {
	measures, starts := newLoadTest("vpp", 0, running("Ramping", 10), ramping(1)),
		newLoadTest("vpp", 0, running("Ramping", 10))
	t.Run("piped, a line for each new thing and now and then one between", func(t *testing.T) {
		var stderr strings.Builder
		instant := noon()
		b := newBoard(Options{Stderr: &stderr}, false, []string{"vpp", "bsd"})
		b.clock = func() time.Time { return instant }
		blocked := newLoadTest("bsd", 0, waiting(v1alpha1.ReasonUnschedulable, "no devices"))
		b.show(1, testMoment{test: &blocked})
		b.show(1, testMoment{test: &blocked})
		for range 12 {
			b.show(0, testMoment{&measures})
			instant = instant.Add(time.Second)
		}
		ended := newLoadTest("vpp", 0, complete(v1alpha1.ReasonMeasured, "done"))
		b.show(0, testMoment{test: &ended})
		golden(t, "board-piped.txt", stderr.String())
	})
	t.Run("on a terminal, its own lines again and again, each as wide as there is room", func(t *testing.T) {
		var stderr strings.Builder
		b := newBoard(Options{Stderr: &stderr}, false, []string{"vpp", "bsd"})
		b.live, b.width = true, func() int { return 60 }
		b.show(0, testMoment{&measures})
		blocked := newLoadTest("bsd", 0, waiting(v1alpha1.ReasonUnschedulable, "no\ndevices"))
		b.show(1, testMoment{test: &blocked})
		b.say("%s", "the API server answers again")
		b.show(1, testMoment{test: &blocked})
		b.clear()
		golden(t, "board-live.txt", strings.ReplaceAll(stderr.String(), "\x1b", "ESC"))
	})
	t.Run("quiet, nothing", func(t *testing.T) {
		var stderr strings.Builder
		b := newBoard(Options{Stderr: &stderr}, true, []string{"vpp"})
		b.show(0, testMoment{test: &starts})
		if stderr.Len() > 0 {
			t.Errorf("got %q", stderr.String())
		}
	})
}
