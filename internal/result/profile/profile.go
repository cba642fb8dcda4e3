package profile

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// Stack is a stack, outermost first, and how many samples found it.
type Stack struct {
	Frames []string
	Count  int64
}

// Parse reads folded stacks: "router;main.run;main.forward 41". It leaves out what isn't one.
func Parse(folded []string) (stacks []Stack) {
	for _, line := range folded {
		i := strings.LastIndexByte(line, ' ')
		if i <= 0 {
			continue
		}
		if count, err := strconv.ParseInt(line[i+1:], 10, 64); err == nil && count > 0 {
			stacks = append(stacks, Stack{strings.Split(line[:i], ";"), count})
		}
	}
	return stacks
}

// Node is a function where its callers are those above it. Self are the samples that found the function itself, and
// Total those that found it or what it calls there.
type Node struct {
	Name        string
	Self, Total int64
	Children    []*Node // by their names
}

// Tree joins stacks at their outermost functions. Its root has no name.
func Tree(stacks []Stack) *Node {
	root := &Node{}
	for _, s := range stacks {
		at := root
		at.Total += s.Count
		for _, frame := range s.Frames {
			i, found := slices.BinarySearchFunc(at.Children, frame, func(n *Node, name string) int {
				return cmp.Compare(n.Name, name)
			})
			if !found {
				at.Children = slices.Insert(at.Children, i, &Node{Name: frame})
			}
			at = at.Children[i]
			at.Total += s.Count
		}
		at.Self += s.Count
	}
	return root
}

// Function is a function wherever it was called. A function that calls itself counts once in a stack.
type Function struct {
	Name        string
	Self, Total int64
}

// Functions are those of stacks, with the most samples of their own first.
func Functions(stacks []Stack) (functions []Function) {
	byName := map[string]*Function{}
	for _, s := range stacks {
		counted := map[string]bool{}
		for i, frame := range s.Frames {
			f := byName[frame]
			if f == nil {
				f = &Function{Name: frame}
				byName[frame] = f
			}
			if !counted[frame] {
				f.Total += s.Count
				counted[frame] = true
			}
			if i == len(s.Frames)-1 {
				f.Self += s.Count
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		functions = append(functions, *byName[name])
	}
	slices.SortStableFunc(functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total))
	})
	return functions
}

// Device is how many samples found the device.
func Device(stacks []Stack) (sum int64) {
	for _, s := range stacks {
		sum += s.Count
	}
	return sum
}

// NanosecondsPerFrame is the processor time that the device took for each frame that came back in the profile's trial,
// by the samples. It is 0 where nothing shows it.
func NanosecondsPerFrame(r *report.Report) float64 {
	p := r.Profile
	if p == nil || p.SamplesPerSecond <= 0 || p.Frames <= 0 {
		return 0
	}
	return float64(Device(Parse(p.Stacks))) / float64(p.SamplesPerSecond) * 1e9 / float64(p.Frames)
}
