package gate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Image replaces an image of a file by another.
type Image struct {
	// Old is the image as it stands in the file, or its name without tag and digest: then all images of that name are meant.
	Old, New string
}

// ParseImages reads OLD=NEW.
func ParseImages(flag string, texts []string) ([]Image, error) {
	var images []Image
	for _, text := range texts {
		old, replacement, ok := strings.Cut(text, "=")
		if !ok || old == "" || replacement == "" || strings.ContainsAny(text, " \t\n") {
			return nil, fmt.Errorf("%s %q: write OLD=NEW, such as router=registry.lab/router:1.5: every image that is called router in the files becomes that", flag, text)
		}
		images = append(images, Image{old, replacement})
	}
	return images, nil
}

// replacer replaces images, and knows which of them it met.
type replacer struct {
	images []Image
	// otherwise replaces the images that this one doesn't; nil: they stay.
	otherwise *replacer
	met       []string // the images that there are
	used      map[Image]bool
}

// replaced is a copy of a spec with its images replaced, wherever a container has one.
func (r *replacer) replaced(spec map[string]any) map[string]any {
	out, _ := r.value("", spec).(map[string]any)
	return out
}

func (r *replacer) value(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, inner := range v {
			out[k] = r.value(k, inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = r.value("", inner)
		}
		return out
	case string:
		if key == "image" {
			return r.image(v)
		}
	}
	return v
}

// image is what an image becomes. One that stands there as it is goes before one of the name.
func (r *replacer) image(is string) string {
	if !slices.Contains(r.met, is) {
		r.met = append(r.met, is)
	}
	for _, named := range []string{is, nameOf(is)} {
		for _, i := range r.images {
			if i.Old == named {
				if r.used == nil {
					r.used = map[Image]bool{}
				}
				r.used[i] = true
				return i.New
			}
		}
	}
	if r.otherwise != nil {
		return r.otherwise.image(is)
	}
	return is
}

// nameOf is an image without tag and digest: "registry:5000/router".
func nameOf(image string) string {
	name, _, _ := strings.Cut(image, "@")
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		name = name[:i]
	}
	return name
}

// unused says which images were to be replaced and aren't in any file: the gate would measure something else than it was asked to.
func (r *replacer) unused(flag string) error {
	for _, i := range r.images {
		if r.used[i] {
			continue
		}
		if len(r.met) == 0 {
			return fmt.Errorf("%s %s=%s: the files have no image at all", flag, i.Old, i.New)
		}
		return fmt.Errorf("%s %s=%s: no image of the files is %s or is called so; they have %s", flag, i.Old, i.New, i.Old, strings.Join(r.met, ", "))
	}
	return nil
}

// differing are the fields of a spec that are otherwise in another one, as a merge patch that makes the other one of it.
func differing(is, other map[string]any) map[string]any {
	patch := map[string]any{}
	for key, value := range other {
		if reflect.DeepEqual(is[key], value) {
			continue
		}
		if a, both := is[key].(map[string]any); both {
			if b, are := value.(map[string]any); are {
				patch[key] = differing(a, b)
				continue
			}
		}
		patch[key] = value
	}
	return patch
}
