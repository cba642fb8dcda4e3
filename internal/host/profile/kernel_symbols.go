package profile

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// symbol is a function, or what begins at an address.
type symbol struct {
	address, end uint64 // end is 0 where the next symbol ends it
	name         string
}

// symbols are in the order of their addresses.
type symbols []symbol

// find is the function at an address, and false where there is none.
func (s symbols) find(address uint64) (string, bool) {
	i, found := slices.BinarySearchFunc(s, address, func(s symbol, address uint64) int {
		return cmp.Compare(s.address, address)
	})
	if !found {
		i--
	}
	if i < 0 || s[i].end != 0 && address >= s[i].end {
		return "", false
	}
	return s[i].name, true
}

func (s symbols) sort() {
	slices.SortStableFunc(s, func(a, b symbol) int { return cmp.Compare(a.address, b.address) })
}

type kernelSymbols struct{ symbols }

// names are those of a stack, outermost first.
func (k kernelSymbols) names(stack []uint64) []string {
	var frames []string
	for _, address := range slices.Backward(stack) {
		frames = append(frames, k.name(address))
	}
	return frames
}

// name is a function of the kernel's, of one of its modules, or of a program that it was given.
func (k kernelSymbols) name(address uint64) string {
	if name, found := k.find(address); found {
		return name
	}
	return "[unknown kernel function]"
}

// errHidden is that the kernel hides where its functions are.
var errHidden = errors.New("the kernel hides its functions' addresses: it takes CAP_SYSLOG (run as root), " +
	"and kernel.kptr_restrict below 2")

// readKernelSymbols reads a file of the form of /proc/kallsyms: "ffffffff81000000 T name	[module]".
func readKernelSymbols(file string) (k kernelSymbols, err error) {
	f, err := os.Open(file)
	if err != nil {
		return k, fmt.Errorf("read the kernel's functions: %w", err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 || !strings.ContainsAny(fields[1], "tTwW") {
			continue
		}
		address, err := strconv.ParseUint(fields[0], 16, 64)
		if err != nil || address == 0 {
			continue
		}
		name := fields[2]
		if len(fields) > 3 && fields[3] == "[bpf]" {
			name = programName(name)
		}
		k.symbols = append(k.symbols, symbol{address: address, name: withoutVariant(name)})
	}
	if err := lines.Err(); err != nil {
		return k, fmt.Errorf("read the kernel's functions: %w", err)
	}
	if len(k.symbols) == 0 {
		return k, errHidden
	}
	k.sort()
	return k, nil
}

// programName is the name of a program that the kernel was given, bpf_prog_6deef7357e7b4530_burn, without the digest
// of its instructions, so that the same function of two builds has one name. Some have no other.
func programName(name string) string {
	parts := strings.SplitN(name, "_", 4)
	if len(parts) == 4 && parts[0] == "bpf" && parts[1] == "prog" {
		return parts[3] + " [bpf]"
	}
	return "unnamed [bpf]"
}

// withoutVariant is a function's name without what the compiler adds to a copy of it: ".isra.0", ".cold".
func withoutVariant(name string) string {
	if i := strings.IndexByte(name, '.'); i > 0 {
		return name[:i]
	}
	return name
}
