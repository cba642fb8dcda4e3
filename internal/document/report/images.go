package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// ImagesOf is the images that the device's pod ran. It is nil where they are unknown, or the device is no pod. The
// image of the built-in forwarder doesn't matter, as the node's kernel forwards.
func ImagesOf(r *Report) []plan.Container {
	if r.Device == nil || r.Plan == nil || r.Plan.DUT.Type != "Pod" {
		return nil
	}
	return r.Device.Containers
}

// Builds is a pod's images, each by what distinguishes its build.
func Builds(containers []plan.Container) string {
	var words []string
	for _, c := range containers {
		words = append(words, c.Build())
	}
	return strings.Join(words, ", ")
}

// mostImageDifferences is how many differences between two runs' images are named.
const mostImageDifferences = 3

// CommonImages are the images of several runs, which are named in the same order. Where they differ, difference
// says how, since figures of two builds have no common median. Runs whose images are unknown are passed over.
func CommonImages(names []string, images [][]plan.Container) (common []plan.Container, difference string) {
	first := slices.IndexFunc(images, func(i []plan.Container) bool { return len(i) > 0 })
	if first < 0 {
		return nil, ""
	}
	for i := first + 1; i < len(images); i++ {
		if len(images[i]) == 0 {
			continue
		}
		if d := plan.ImageDifferences(&plan.Device{Containers: images[first]}, &plan.Device{Containers: images[i]},
			mostImageDifferences); len(d) > 0 {
			return nil, fmt.Sprintf("its runs are of several devices: in %s and %s, %s", names[first], names[i],
				strings.Join(d, "; "))
		}
	}
	return images[first], ""
}
