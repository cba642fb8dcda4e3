package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/plan"
)

// ImagesOf are what the device's pod ran; nil where that says nothing: it wasn't told, or the device isn't a pod. Of the built-in forwarder the image
// doesn't matter: the node's kernel forwards.
func ImagesOf(r *Report) []plan.Container {
	if r.Device == nil || r.Plan == nil || r.Plan.DUT.Type != "Pod" {
		return nil
	}
	return r.Device.Containers
}

// mostImageDifferences is how many differences between two runs' images are told.
const mostImageDifferences = 3

// OneDevice are the images of several runs, which are named in the same order. Where they aren't the same it says so: figures of two builds have no
// common median. Runs whose images aren't known say nothing.
func OneDevice(names []string, images [][]plan.Container) (common []plan.Container, apart string) {
	first := slices.IndexFunc(images, func(i []plan.Container) bool { return len(i) > 0 })
	if first < 0 {
		return nil, ""
	}
	for i := first + 1; i < len(images); i++ {
		if len(images[i]) == 0 {
			continue
		}
		if d := plan.ImageDifferences(&plan.Device{Containers: images[first]}, &plan.Device{Containers: images[i]}, mostImageDifferences); len(d) > 0 {
			return nil, fmt.Sprintf("its runs are of several devices: of %s and %s, %s", names[first], names[i], strings.Join(d, "; "))
		}
	}
	return images[first], ""
}

// imageUse is what was measured somewhere.
type imageUse struct {
	where  string
	images []plan.Container
}

// mostUses is how many places are named that measured the same images.
const mostUses = 12

// imageWords say which images were measured, each once, and where, if not everywhere.
func imageWords(uses []imageUse) []string {
	where, order := map[string][]string{}, []string(nil)
	for _, u := range uses {
		if len(u.images) == 0 {
			continue
		}
		var ran []string
		for _, c := range u.images {
			ran = append(ran, c.Name+" ran "+c.Short())
		}
		text := strings.Join(ran, ", ")
		if where[text] == nil {
			order = append(order, text)
		}
		if !slices.Contains(where[text], u.where) {
			where[text] = append(where[text], u.where)
		}
	}
	var out []string
	for _, text := range order {
		places := where[text]
		switch more := len(places) - mostUses; {
		case len(order) == 1 && len(places) == len(uses):
			out = append(out, "Device under test: "+text+".")
			continue
		case more > 0:
			places = append(places[:mostUses:mostUses], fmt.Sprintf("and %d more", more))
		}
		out = append(out, "Device under test of "+strings.Join(places, ", ")+": "+text+".")
	}
	return out
}
