package profile

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Owner is whose a process is.
type Owner int

// The owners. What the kernel does with frames, in softirqs and in its own threads, is always the device's, whoever was
// interrupted. What else it does there is a stranger's.
const (
	Device Owner = iota
	Generator
	Stranger
)

// Profile is what processors ran.
type Profile struct {
	Duration   time.Duration
	Processors int // sampled ones
	// Samples are all that were taken. Of these, Idle found nothing that ran, and Generator and Strangers ran programs
	// that aren't the device's. The rest are in Stacks.
	Samples, Idle, Generator, Strangers int64
	// Lost are samples whose stack, or a part of it, is missing because the kernel's tables had no room. They are in
	// Stacks where the process is known.
	Lost int64
	// Stacks are the device's, those with the most samples first.
	Stacks []Stack
	// Programs are the files that Stacks has functions of.
	Programs []Program
}

// Stack is a stack and how many samples found it.
type Stack struct {
	Frames []string // outermost first: the process's name, or "softirq"
	Count  int64
}

// String is the stack in the form that tools for flame graphs read: "router;main.run;main.forward 41".
func (s Stack) String() string { return fmt.Sprintf("%s %d", strings.Join(s.Frames, ";"), s.Count) }

// Program is a file with code, and what identifies its build.
type Program struct {
	Path string
	// Build is its build's id ("go:…", "gnu:…"), or the digest of the file ("sha256:…").
	Build string
}

// What bounds a Profile: so many stacks of so many bytes are kept as they are. Others become "[other];FUNCTION", and
// beyond mostFunctions "[other]" alone.
const (
	mostStacks    = 200
	mostBytes     = 96 << 10
	mostFunctions = 200
	other         = "[other]"
)

// softirqs are the functions in which the kernel's softirqs begin, before and since Linux 6.9.
var softirqs = []string{"handle_softirqs", "__do_softirq"}

// fold names what was counted, and adds up what is the same.
func (p *Profile) fold(all []counted, owner func(pid int) Owner) error {
	kernel, err := readKernelSymbols("/proc/kallsyms")
	if err != nil {
		return err
	}
	programs := programs{}
	whole := map[string]int64{}
	for _, c := range all {
		frames := kernel.names(c.kernel)
		softirq := slices.IndexFunc(frames, func(f string) bool { return slices.Contains(softirqs, f) })
		thread := softirq < 0 && isKernelThread(c.process)
		switch {
		case softirq >= 0 && !carriesFrames(frames[softirq:]), thread && !threadCarriesFrames(c.command, frames):
			p.Strangers += c.count
			continue
		case softirq >= 0:
			c.lostUser = false // of the program that it interrupted
			frames = append([]string{"softirq"}, frames[softirq:]...)
		case c.process == 0:
			p.Idle += c.count
			continue
		case thread:
			frames = append([]string{threadName(c.command)}, frames...)
		case owner(c.process) == Generator:
			p.Generator += c.count
			continue
		case owner(c.process) == Stranger:
			p.Strangers += c.count
			continue
		default:
			outer := []string{threadName(c.command)}
			for _, address := range slices.Backward(c.user) {
				outer = append(outer, programs.name(c.process, address))
			}
			frames = append(outer, frames...)
		}
		if c.lostKernel || c.lostUser {
			p.Lost += c.count
			frames = append(frames, "[lost]")
		}
		whole[folded(frames)] += c.count
	}
	p.Stacks, p.Programs = bounded(whole), programs.used()
	return nil
}

// folded is a stack in one line, outermost function first.
func folded(frames []string) string {
	for i := range frames {
		frames[i] = printable(frames[i])
	}
	return strings.Join(slices.CompactFunc(frames, bothUnnamed), ";")
}

// carriesFrames says that a softirq receives or sends frames, and not for a TCP connection of this machine's own.
func carriesFrames(softirq []string) bool {
	return slices.ContainsFunc(softirq, func(f string) bool { return f == "net_rx_action" || f == "net_tx_action" }) &&
		!slices.ContainsFunc(softirq, func(f string) bool { return f == "tcp_v4_rcv" || f == "tcp_v6_rcv" })
}

// threadCarriesFrames says that a thread of the kernel's polls interfaces, or encrypts or decrypts for them.
func threadCarriesFrames(command string, frames []string) bool {
	return strings.HasPrefix(command, "napi/") || strings.HasPrefix(command, "irq/") ||
		slices.ContainsFunc(frames, func(f string) bool {
			return strings.HasPrefix(f, "wg_packet_") || strings.HasPrefix(f, "padata_") ||
				strings.HasPrefix(f, "xfrm_")
		})
}

// bothUnnamed says that nothing distinguishes two frames that follow each other, as "[libc.so.6]" and its caller.
func bothUnnamed(a, b string) bool { return a == b && a[0] == '[' }

// bounded keeps the stacks with the most samples, and of the others their innermost function.
func bounded(whole map[string]int64) []Stack {
	kept, leaves, bytes := 0, map[string]int64{}, 0
	var stacks []Stack
	for _, s := range sorted(whole) {
		if kept < mostStacks && bytes+len(s.key) <= mostBytes {
			kept, bytes = kept+1, bytes+len(s.key)
			stacks = append(stacks, Stack{strings.Split(s.key, ";"), s.count})
			continue
		}
		leaves[s.key[strings.LastIndexByte(s.key, ';')+1:]] += s.count
	}
	rest := Stack{Frames: []string{other}}
	for i, s := range sorted(leaves) {
		if i < mostFunctions {
			stacks = append(stacks, Stack{[]string{other, s.key}, s.count})
			continue
		}
		rest.Count += s.count
	}
	if rest.Count > 0 {
		stacks = append(stacks, rest)
	}
	slices.SortStableFunc(stacks, func(a, b Stack) int { return cmp.Compare(b.Count, a.Count) })
	return stacks
}

type weighed struct {
	key   string
	count int64
}

// sorted are a map's entries, those with the largest counts first.
func sorted(counts map[string]int64) (all []weighed) {
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, weighed{key, counts[key]})
	}
	slices.SortStableFunc(all, func(a, b weighed) int { return cmp.Compare(b.count, a.count) })
	return all
}

// isKernelThread says that a process has no program. One that has ended counts as a program.
func isKernelThread(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	var state string
	var parent int
	// after the name, which may contain anything
	_, _ = fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent)
	return pid == kthreadd || parent == kthreadd
}

// kthreadd is the process that starts the kernel's threads.
const kthreadd = 2

// numbered is the part of a thread's name that differs at each start: "napi/west-8193", "kworker/0:1-events",
// "ksoftirqd/1".
var numbered = regexp.MustCompile(`^(napi/.*)-\d+$|^(kworker)/.*$|^(.+)/\d+$`)

func threadName(command string) string {
	if parts := numbered.FindStringSubmatch(command); parts != nil {
		return cmp.Or(parts[1:]...)
	}
	return cmp.Or(command, "[unnamed]")
}

// commandName is a name that the kernel gives with a zero behind it.
func commandName(text []uint8) string {
	name, _, _ := bytes.Cut(text, []byte{0})
	return string(name)
}

// longestName is how many bytes of a function's name are kept.
const longestName = 160

// printable is a name without what separates frames, or drives a terminal.
func printable(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ':'
		case r < ' ' || r == 0x7f || r == '\uFFFD':
			return '?'
		}
		return r
	}, name)
	if len(name) > longestName {
		name = strings.ToValidUTF8(name[:longestName], "") + "…"
	}
	return cmp.Or(name, "[unnamed]")
}
