package machine

import (
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

func TestTimeIsSpentByTheProcessorsThatAreAskedFor(t *testing.T) {
	mine, err := OwnProcessors()
	if err != nil {
		t.Fatal(err)
	}
	all, err := Spent(mine)
	if err != nil {
		t.Fatal(err)
	}
	if mine.Count() < 1 || all.User+all.System+all.Idle <= 0 || all.Steal < 0 {
		t.Errorf("%d processors spent %+v", mine.Count(), all)
	}
	if none, err := Spent(&unix.CPUSet{}); err != nil || none != (procfs.CPUStat{}) {
		t.Errorf("no processor spent %+v (%v)", none, err)
	}
}

func TestWhatAHostTookIsOfTheProcessorsThatAreAskedFor(t *testing.T) {
	all := []Processor{{Number: 0, Stolen: time.Second}, {Number: 1, Stolen: 3 * time.Second}, {Number: 2, Stolen: time.Hour}}
	for name, c := range map[string]struct {
		of   []int
		want time.Duration
	}{
		"one":          {[]int{1}, 3 * time.Second},
		"two":          {[]int{0, 1}, 2 * time.Second},
		"none":         {nil, 0},
		"not the last": {[]int{0, 3}, 500 * time.Millisecond}, // which may be asked for, and is off
	} {
		of := &unix.CPUSet{}
		for _, number := range c.of {
			of.Set(number)
		}
		if got := Stolen(all, of); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestTheSameCountersHaveTheSameSum(t *testing.T) {
	spent, of := map[int64]procfs.CPUStat{}, &unix.CPUSet{}
	for cpu := range 16 {
		spent[int64(cpu)] = procfs.CPUStat{Steal: 20.01 / float64(cpu+1), Idle: 1e6 / float64(cpu+3)}
		of.Set(cpu)
	}
	first := total(spent, of)
	for range 100 {
		if again := total(spent, of); again != first {
			t.Fatalf("%+v, then %+v", first, again)
		}
	}
}
