package profile

import (
	"cmp"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// burner is a program that spends its time in a named function.
const burner = `package main

import "time"

//go:noinline
func burnInProgram(n int) (sum int) {
	for i := range n {
		sum += i * i
	}
	return sum
}

func main() {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		burnInProgram(1_000_000)
	}
}
`

// build builds the program with these flags of the linker's and compiler's.
func buildBurner(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(burner), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "burner")
	build := exec.Command("go", append(append([]string{"build", "-o", program}, flags...), "main.go")...)
	build.Dir, build.Env = dir, append(os.Environ(), "GO111MODULE=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// sampleProcessors samples all of this process's processors for a while.
func sampleProcessors(t *testing.T, during time.Duration, owner func(int) Owner) Profile {
	t.Helper()
	netnstest.Root(t)
	processors, err := machine.OwnProcessors()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(machine.ListProcessors(processors))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(during) // what is sampled is this time
	p, err := s.Stop(owner)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func selves(stacks []Stack) map[string]int64 {
	counts := map[string]int64{}
	for _, s := range stacks {
		counts[s.Frames[len(s.Frames)-1]] += s.Count
	}
	return counts
}

func first(counts map[string]int64) string {
	return slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b string) int {
		return cmp.Compare(counts[a], counts[b])
	})
}

// A program's hottest function is named first, with and without symbols.
func TestTheFunctionThatBurnsIsNamedFirst(t *testing.T) {
	t.Run("with symbols", func(t *testing.T) { burnsInNamedFunction(t, "-ldflags=") })
	t.Run("without symbols", func(t *testing.T) { burnsInNamedFunction(t, "-ldflags=-s -w") })
}

func burnsInNamedFunction(t *testing.T, flags ...string) {
	t.Helper()
	program := exec.Command(buildBurner(t, flags...))
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Process.Kill(); _ = program.Wait() })
	p := sampleProcessors(t, time.Second/2, func(pid int) Owner {
		if pid == program.Process.Pid {
			return Device
		}
		return Stranger
	})
	var ours []Stack
	for _, s := range p.Stacks {
		if s.Frames[0] == "burner" {
			ours = append(ours, s)
		}
	}
	if len(ours) == 0 || first(selves(ours)) != "main.burnInProgram" {
		t.Fatalf("the burner's stacks are %v", ours)
	}
	// Go gives a function that calls no other no frame of its own, so its caller is left out.
	if got := ours[0].String(); !strings.Contains(got, ";runtime.main;main.burnInProgram ") {
		t.Errorf("%s", got)
	}
	i := slices.IndexFunc(p.Programs, func(f Program) bool { return strings.HasSuffix(f.Path, "/burner") })
	if i < 0 || !strings.HasPrefix(p.Programs[i].Build, "go:") {
		t.Errorf("programs: %v", p.Programs)
	}
}

// All samples are somewhere: idle, the generator's, strangers', or in a stack.
func TestNoSampleGetsLost(t *testing.T) {
	p := sampleProcessors(t, time.Second/2, func(int) Owner { return Stranger })
	sum := p.Idle + p.Generator + p.Strangers
	for _, s := range p.Stacks {
		sum += s.Count
	}
	if sum != p.Samples || p.Lost > p.Samples/20 {
		t.Errorf("%d of %d samples, %d lost", sum, p.Samples, p.Lost)
	}
	expected := int64(Hertz * p.Duration.Seconds() * float64(p.Processors))
	if p.Samples > expected+int64(p.Processors) || p.Samples < expected/2 {
		t.Errorf("%d samples of %d processors in %s", p.Samples, p.Processors, p.Duration)
	}
}

func TestMuchIsBounded(t *testing.T) {
	whole, total := map[string]int64{}, int64(0)
	for i := range 5000 {
		whole["softirq;"+strings.Repeat("f;", i%100)+"leaf"+string(rune('a'+i%26))+strings.Repeat("x", i/100)] += int64(i)
		total += int64(i)
	}
	stacks, bytes := bounded(whole), 0
	for _, s := range stacks {
		total -= s.Count
		bytes += len(s.String())
	}
	if total != 0 || len(stacks) > mostStacks+mostFunctions+1 || bytes > 2*mostBytes {
		t.Errorf("%d stacks, %d bytes, %d samples are missing", len(stacks), bytes, total)
	}
}

func TestNamesOfThreadsAndPrograms(t *testing.T) {
	for command, want := range map[string]string{"napi/west-8193": "napi/west", "kworker/0:1-events": "kworker",
		"ksoftirqd/1": "ksoftirqd", "router": "router", "": "[unnamed]"} {
		if got := threadName(command); got != want {
			t.Errorf("%s is %s, want %s", command, got, want)
		}
	}
	if got := printable("a;b\x1b[31m\xff"); got != "a:b?[31m?" {
		t.Errorf("%q", got)
	}
	if got := programName("bpf_prog_c254aef70cd30e06"); got != "unnamed [bpf]" {
		t.Error(got)
	}
	if got := programName("bpf_prog_6deef7357e7b4530_burn_it"); got != "burn_it [bpf]" {
		t.Error(got)
	}
}

// Of what the kernel does by itself only what it does with frames is the device's.
func TestWhatTheKernelDoesWithFramesIsTheDevices(t *testing.T) {
	for stack, want := range map[string]bool{
		"handle_softirqs;net_rx_action;__napi_poll;ip_forward":              true,
		"handle_softirqs;net_tx_action;qdisc_run":                           true,
		"handle_softirqs;net_rx_action;__napi_poll;tcp_v4_rcv;csum_partial": false,
		"handle_softirqs;run_timer_softirq;call_timer_fn":                   false,
	} {
		if got := carriesFrames(strings.Split(stack, ";")); got != want {
			t.Errorf("%s: %t", stack, got)
		}
	}
	for command, want := range map[string]bool{"napi/west-8193": true, "irq/30-eth0": true, "kcompactd0": false,
		"kworker/0:1": false} {
		if got := threadCarriesFrames(command, []string{"kthread", "compact_node"}); got != want {
			t.Errorf("%s: %t", command, got)
		}
	}
	if !threadCarriesFrames("kworker/1:0", []string{"kthread", "process_one_work", "wg_packet_decrypt_worker"}) {
		t.Error("a thread that decrypts")
	}
}

func TestKernelsFunctions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kallsyms")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ffffffff81000100 T second.isra.0\nffffffff81000000 t first\nffffffff81000080 D data\n" +
		"ffffffffc0000000 t bpf_prog_6deef7357e7b4530_burn\t[bpf]\n")
	k, err := readKernelSymbols(file)
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[uint64]string{0xffffffff81000090: "first", 0xffffffff81000100: "second",
		0xffffffffc0000010: "burn [bpf]", 0x10: "[unknown kernel function]"} {
		if got := k.name(address); got != want {
			t.Errorf("%x is %s, want %s", address, got, want)
		}
	}
	write("0000000000000000 T first\n")
	if _, err := readKernelSymbols(file); err == nil || !strings.Contains(err.Error(), "kptr_restrict") {
		t.Errorf("hidden addresses: %v", err)
	}
}

// A processor that isn't there, and a user without rights, get the way out.
func TestWhatTheKernelRefusesIsExplained(t *testing.T) {
	netnstest.Root(t)
	if _, err := Start([]int{runtime.NumCPU() + 4000}); err == nil ||
		!strings.Contains(err.Error(), "sample processor") {
		t.Errorf("a processor that isn't there: %v", err)
	}
}
