package machine

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/signs"
)

// of is a machine whose trees are in testdata: virtual was recorded on a virtual machine of two processors; the
// others are in the forms that the kernel's documentation has.
func of(machine string) *SignsReader {
	return &SignsReader{Proc: filepath.Join("testdata", machine, "proc"), Sys: filepath.Join("testdata", machine, "sys"), arch: "amd64"}
}

func noon() time.Duration { return 12 * time.Hour }

func TestWhatAMachineTells(t *testing.T) {
	value := func(series, of string, number float64) signs.Value {
		return signs.Value{Series: series, Part: of, Number: number}
	}
	for _, c := range []struct {
		machine, of string
		want        []signs.Value
		missing     string
	}{
		{machine: "virtual", of: signs.Memory, want: []signs.Value{value("used", "", 2633183232), value("available", "", 22642880512)}},
		{machine: "virtual", of: signs.Load, want: []signs.Value{value("load1", "", 36.52), value("load5", "", 37.89), value("load15", "", 27.61)}},
		{machine: "virtual", of: signs.SoftIRQs, want: []signs.Value{
			{Series: "time", Part: "all processors", Number: 1123.95, Step: 0.02}, value("netRx", "all processors", 297805483), value("netTx", "all processors", 4081229),
			value("processed", "all processors", 611795595), value("dropped", "all processors", 0), value("squeezed", "all processors", 91),
			{Series: "time", Part: "processor 0", Number: 608.56, Step: 0.01}, value("netRx", "processor 0", 169402789), value("netTx", "processor 0", 2036981),
			value("processed", "processor 0", 344416154), value("dropped", "processor 0", 0), value("squeezed", "processor 0", 60),
			{Series: "time", Part: "processor 1", Number: 515.39, Step: 0.01}, value("netRx", "processor 1", 128402694), value("netTx", "processor 1", 2044248),
			value("processed", "processor 1", 267379441), value("dropped", "processor 1", 0), value("squeezed", "processor 1", 31),
		}},
		{machine: "virtual", of: signs.Frequencies, missing: "this machine's processors don't say how fast they run: its kernel has no cpufreq, and /proc/cpuinfo the nominal frequency at most, as in most virtual machines"},
		{machine: "virtual", of: signs.Temperatures, missing: "this machine has no hwmon sensors of temperature, as most virtual machines"},
		{machine: "virtual", of: signs.Interfaces, missing: "nobody of linerate's is in the device's network namespace to read its interfaces"},
		{machine: "metal", of: signs.Frequencies, want: []signs.Value{value("lowest", "", 8e8), value("mean", "", 1.85e9), value("highest", "", 2.9e9),
			value("frequency", "processor 0", 8e8), value("frequency", "processor 1", 1.5e9), value("frequency", "processor 2", 2.2e9), value("frequency", "processor 3", 2.9e9)}},
		{machine: "metal", of: signs.Temperatures, want: []signs.Value{value("highest", "", 52), value("temperature", "acpitz temp1", 27.8), value("temperature", "nvme nvme0 Composite", 38.85),
			value("temperature", "nvme nvme1 Composite", 41.85), value("temperature", "coretemp Package id 0", 52), value("temperature", "coretemp Core 0", 47), value("temperature", "coretemp Core 8", 51)}},
		{machine: "metal", of: signs.Load, missing: "this machine's load can't be read: open testdata/metal/proc/loadavg: no such file or directory"},
		{machine: "before-5.19", of: signs.Frequencies, missing: "the kernel of this machine, 5.15.0-119-generic, interrupts each processor to tell its frequency, which would disturb the device: Linux 5.19 and later don't"},
		{machine: "no-cpufreq", of: signs.Frequencies, want: []signs.Value{value("lowest", "", 1.2e9), value("mean", "", 2099706000), value("highest", "", 2999412000),
			value("frequency", "processor 0", 2999412000), value("frequency", "processor 1", 1.2e9)}},
	} {
		t.Run(c.of+" of "+c.machine, func(t *testing.T) {
			want := []signs.Reading{{Type: c.of, At: noon(), Values: c.want, Missing: c.missing}}
			if diff := cmp.Diff(want, of(c.machine).Read([]string{c.of, "Tea"}, noon), cmp.Comparer(near)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// near says of two numbers that they are one but for how a computer adds.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(a) }

// The kernel counts frames of each processor in 32 bits: a busy one begins anew each hour, which is no reason to
// have no rate.
func TestCountersOf32BitsGoOn(t *testing.T) {
	var r SignsReader
	for _, c := range []struct {
		now  uint32
		want float64
	}{{math.MaxUint32 - 9, math.MaxUint32 - 9}, {math.MaxUint32, math.MaxUint32}, {4, 1<<32 + 4}, {4, 1<<32 + 4}, {1000, 1<<32 + 1000}} {
		if got := r.grow("processed 0", c.now); got != c.want {
			t.Errorf("%d is told as %.0f, want %.0f", c.now, got, c.want)
		}
	}
	if got := r.grow("processed 1", 3); got != 3 {
		t.Errorf("another processor's 3 is told as %.0f", got)
	}
}

// written is a /proc with these files.
func written(t *testing.T, files map[string]string) *SignsReader {
	t.Helper()
	r := &SignsReader{Proc: t.TempDir(), Sys: t.TempDir(), arch: "amd64"}
	for name, text := range files {
		file := filepath.Join(r.Proc, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// A processor that is switched off has no row: what became of frames is told of the processor that the row names,
// not of the place where it stands.
func TestARowOfFramesIsOfTheProcessorThatItNames(t *testing.T) {
	row := func(processed, processor int) string {
		return fmt.Sprintf("%08x %s%08x %08x %08x\n", processed, strings.Repeat("00000000 ", 11), processor, 0, 0)
	}
	r := written(t, map[string]string{
		"stat":             "cpu  0 0 0 0 0 0 30 0 0 0\ncpu0 0 0 0 0 0 0 10 0 0 0\ncpu2 0 0 0 0 0 0 20 0 0 0\n",
		"softirqs":         "   CPU0 CPU1 CPU2\nNET_TX: 1 0 2\nNET_RX: 3 0 4\n",
		"net/softnet_stat": row(1000, 0) + row(5000, 2),
	})
	got := map[string]float64{}
	for _, v := range r.Read([]string{signs.SoftIRQs}, noon)[0].Values {
		if v.Series == "processed" {
			got[v.Part] = v.Number
		}
	}
	if diff := cmp.Diff(map[string]float64{"all processors": 6000, "processor 0": 1000, "processor 2": 5000}, got); diff != "" {
		t.Error(diff)
	}
}

// The first kernel that is asked for frequencies on x86 is the first that interrupts nobody for an answer.
func TestFromWhichKernelOnFrequenciesAreFree(t *testing.T) {
	for release, free := range map[string]bool{"4.19.0": false, "5.18.19-generic": false, "5.19.0": true, "6.1.0-31-amd64": true} {
		if err := written(t, map[string]string{"sys/kernel/osrelease": release + "\n"}).frequenciesAreFree(); (err == nil) != free {
			t.Errorf("%s: %v", release, err)
		}
	}
}

// Of a machine with many processors each has none of its own: a Report of 128 would be all frequencies.
func TestManyProcessorsHaveNoSeriesEach(t *testing.T) {
	many := map[int]float64{}
	for n := range signs.MostEach + 1 {
		many[n] = 1e9 * float64(n+1)
	}
	got := perProcessor(many)
	if len(got) != 4 || got[0].Number != 1e9 || got[1].Number != 5e9 || got[2].Number != 9e9 || got[3].Series != "frequency" || !strings.HasPrefix(got[3].Missing, "the machine has 9 processors") {
		t.Errorf("%+v", got)
	}
}

// However many ask, a type is read as often as its kind says.
func TestATypeIsReadAsOftenAsItsKindSaysAtMost(t *testing.T) {
	read, now := 0, noon()
	r := &SignsReader{Links: func() ([]signs.Value, error) {
		read++
		return []signs.Value{{Series: "sent", Number: float64(read)}}, nil
	}}
	for range 10 { // within the time of one reading
		if got := r.Read([]string{signs.Interfaces}, func() time.Duration { return now })[0]; got.At != noon() || got.Values[0].Number != 1 {
			t.Errorf("%+v", got)
		}
		now += signs.Kinds[signs.Interfaces].Interval / 11
	}
	now = noon() + signs.Kinds[signs.Interfaces].Interval
	if got := r.Read([]string{signs.Interfaces}, func() time.Duration { return now })[0]; got.At != now || got.Values[0].Number != 2 {
		t.Errorf("%+v", got)
	}
}

// What can't be read is looked for now and then.
func TestWhatIsMissingIsLookedForNowAndThen(t *testing.T) {
	tried, now := 0, noon()
	r := &SignsReader{Links: func() ([]signs.Value, error) { tried++; return nil, os.ErrPermission }}
	for range 40 { // in two readings' time
		r.Read([]string{signs.Interfaces}, func() time.Duration { return now })
		now += unread / 20
	}
	if tried != 2 {
		t.Errorf("it was tried %d times in %s, want 2", tried, now-noon())
	}
}

// Whatever this machine is: each type has values of its kind, or says why not.
func TestThisMachineTells(t *testing.T) {
	r := &SignsReader{Links: func() ([]signs.Value, error) { return nil, os.ErrPermission }}
	var types []string
	for name := range signs.Kinds {
		types = append(types, name)
	}
	for _, told := range r.Read(types, noon) {
		t.Logf("%s: %d values %s", told.Type, len(told.Values), told.Missing)
		if (len(told.Values) == 0) != (told.Missing != "") {
			t.Errorf("%s has %d values, and is missing: %q", told.Type, len(told.Values), told.Missing)
		}
		for _, v := range told.Values {
			if _, known := signs.Kinds[told.Type].Find(v.Series); !known || math.IsNaN(v.Number) || v.Number < 0 && told.Type != signs.Temperatures {
				t.Errorf("%s: %+v", told.Type, v)
			}
		}
	}
	for name, kind := range signs.Kinds {
		if !kind.Intrusive && kind.Interval > 400*time.Millisecond {
			t.Errorf("%s is read each %s, and a window's edge has nothing that is as far from it", name, kind.Interval)
		}
	}
	if told := r.latest[signs.Interfaces]; told.Missing != os.ErrPermission.Error() {
		t.Errorf("%+v", told)
	}
}

// What the kernel says by other ways is the same.
func TestWhatThisMachineTellsIsWhatItsKernelSaysElsewhere(t *testing.T) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		t.Fatal(err)
	}
	r := &SignsReader{}
	memory := r.Read([]string{signs.Memory}, noon)[0]
	if len(memory.Values) != 2 || memory.Values[0].Number+memory.Values[1].Number != float64(info.Totalram)*float64(info.Unit) {
		t.Errorf("%+v, and the machine has %d bytes", memory, info.Totalram*uint64(info.Unit))
	}
	before := netRxIn(t)
	softirqs := r.Read([]string{signs.SoftIRQs}, noon)[0]
	after := netRxIn(t)
	for _, v := range softirqs.Values {
		if v.Series == "netRx" && v.Part == signs.OfAllProcessors && (v.Number < before || v.Number > after) {
			t.Errorf("net_rx ran %.0f times, and %.0f before, %.0f after", v.Number, before, after)
		}
	}
}

// netRxIn is the sum of /proc/softirqs' line of NET_RX.
func netRxIn(t *testing.T) (sum float64) {
	t.Helper()
	text, err := os.ReadFile("/proc/softirqs")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); fields[0] == "NET_RX:" {
			for _, f := range fields[1:] {
				var n float64
				_, _ = fmt.Sscan(f, &n)
				sum += n
			}
		}
	}
	return sum
}

// BenchmarkRead is what a reading of each type costs this machine, in processor time: others may have the
// processors meanwhile.
func BenchmarkRead(b *testing.B) {
	for name := range signs.Kinds {
		if name == signs.Interfaces {
			continue // forwarder has it
		}
		b.Run(name, func(b *testing.B) {
			r, now, began := &SignsReader{}, time.Duration(0), used()
			for b.Loop() {
				now += time.Hour
				r.Read([]string{name}, func() time.Duration { return now })
			}
			b.ReportMetric(float64((used()-began).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// used is the processor time of this process.
func used() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // can't fail for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
