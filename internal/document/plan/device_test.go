package plan_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

func vpp(image, id string, others ...plan.Container) *plan.Device {
	return &plan.Device{Pod: "t-1-dut", Node: "node-1", Containers: append([]plan.Container{{Name: "vpp", Image: image, ImageID: id}}, others...)}
}

func TestImageDifferences(t *testing.T) {
	const one, other = "sha256:1111111111111111111111111111", "sha256:2222222222222222222222222222"
	agent := plan.Container{Name: "agent", Image: "lab/agent:1"}
	for name, c := range map[string]struct {
		a, b *plan.Device
		want []string // parts of what is said, one of each
	}{
		"the same image":                       {a: vpp("lab/vpp:1", "lab/vpp@"+one), b: vpp("lab/vpp:1", "lab/vpp@"+one)},
		"the same image of a mirror":           {a: vpp("lab/vpp:1", "lab/vpp@"+one), b: vpp("mirror/vpp:1", "mirror/vpp@"+one)},
		"a tag that was moved":                 {a: vpp("lab/vpp:1", "lab/vpp@"+one), b: vpp("lab/vpp:1", "lab/vpp@"+other), want: []string{"container vpp ran lab/vpp:1 (sha256:111111111111…) in the one and lab/vpp:1 (sha256:222222222222…) in the other"}},
		"another tag":                          {a: vpp("lab/vpp:1", "lab/vpp@"+one), b: vpp("lab/vpp:2", "lab/vpp@"+other), want: []string{"lab/vpp:2"}},
		"another tag, and digests untold":      {a: vpp("lab/vpp:1", ""), b: vpp("lab/vpp:2", ""), want: []string{"ran lab/vpp:1 in the one and lab/vpp:2 in the other"}},
		"loaded onto nodes, the same":          {a: vpp("lab/vpp:1", one), b: vpp("lab/vpp:2", one)},
		"loaded onto nodes, another":           {a: vpp("lab/vpp:1", one), b: vpp("lab/vpp:1", other), want: []string{"sha256:2222"}},
		"pulled here, and loaded there":        {a: vpp("lab/vpp:1", "lab/vpp@"+one), b: vpp("lab/vpp:1", other)},
		"a container more":                     {a: vpp("lab/vpp:1", ""), b: vpp("lab/vpp:1", "", agent), want: []string{"container agent is only in the other"}},
		"a container less":                     {a: vpp("lab/vpp:1", "", agent), b: vpp("lab/vpp:1", ""), want: []string{"container agent is only in the one"}},
		"more differences than are told":       {a: vpp("lab/vpp:1", "", agent, plan.Container{Name: "log"}), b: vpp("lab/vpp:2", ""), want: []string{"vpp", "agent", "and 1 more"}},
		"of an unknown device nothing is said": {b: vpp("lab/vpp:1", "")},
	} {
		t.Run(name, func(t *testing.T) {
			got := plan.ImageDifferences(c.a, c.b, 2)
			if len(got) != len(c.want) {
				t.Fatalf("it says %q", got)
			}
			for i, part := range c.want {
				if !strings.Contains(got[i], part) {
					t.Errorf("it says %q, want %q", got[i], part)
				}
			}
			if back := plan.ImageDifferences(c.b, c.a, 2); len(back) != len(got) {
				t.Errorf("the other way round it says %q", back)
			}
		})
	}
}

// A tag may be moved: two builds of one tag are told apart by their digests, and by the tag only where no digest is
// known.
func TestABuildIsKnownByItsDigest(t *testing.T) {
	for id, want := range map[string]string{"": "lab/vpp:25.10", "docker.io/lab/vpp@sha256:01": "sha256:01", "sha256:02": "sha256:02"} {
		if got := (plan.Container{Name: "vpp", Image: "lab/vpp:25.10", ImageID: id}).Build(); got != want {
			t.Errorf("of image id %q: %s, want %s", id, got, want)
		}
	}
}
