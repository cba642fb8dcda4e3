package gate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Image replaces an image of a file by another.
type Image struct {
	// Old is the image as the file has it, or its name without tag and digest, which means all images of that name.
	Old, New string
}

// ParseImages reads OLD=NEW.
func ParseImages(flag string, texts []string) ([]Image, error) {
	var images []Image
	for _, text := range texts {
		old, replacement, ok := strings.Cut(text, "=")
		if !ok || old == "" || replacement == "" || strings.ContainsAny(text, " \t\n") {
			return nil, fmt.Errorf("%s %q: write OLD=NEW, such as router=registry.lab/router:1.5: every image that "+
				"is called router in the files becomes that", flag, text)
		}
		images = append(images, Image{old, replacement})
	}
	return images, nil
}

// replacer replaces images, and remembers which images the files have and which replacements were used.
type replacer struct {
	images []Image
	// fallback replaces the images that this one doesn't. Nil means that they stay.
	fallback *replacer
	found    []string // the images of the files
	used     map[Image]bool
}

// replaced is a copy of a spec with its images replaced, wherever a container has one.
func (r *replacer) replaced(spec map[string]any) map[string]any {
	copied, _ := r.value("", spec).(map[string]any)
	return copied
}

func (r *replacer) value(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		copied := make(map[string]any, len(v))
		for k, inner := range v {
			copied[k] = r.value(k, inner)
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i, inner := range v {
			copied[i] = r.value("", inner)
		}
		return copied
	case string:
		if key == "image" {
			return r.replacementOf(v)
		}
	}
	return v
}

// replacementOf is what replaces an image. A replacement for exactly this image goes before one for all images
// of its name.
func (r *replacer) replacementOf(image string) string {
	if !slices.Contains(r.found, image) {
		r.found = append(r.found, image)
	}
	for _, named := range []string{image, nameOf(image)} {
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
	if r.fallback != nil {
		return r.fallback.replacementOf(image)
	}
	return image
}

// nameOf is an image without tag and digest, such as "registry:5000/router".
func nameOf(image string) string {
	name, _, _ := strings.Cut(image, "@")
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		name = name[:i]
	}
	return name
}

// unused refuses a replacement of an image that no file has, since the gate would measure something else than it was
// asked to.
func (r *replacer) unused(flag string) error {
	for _, i := range r.images {
		if r.used[i] {
			continue
		}
		if len(r.found) == 0 {
			return fmt.Errorf("%s %s=%s: the files have no image", flag, i.Old, i.New)
		}
		return fmt.Errorf("%s %s=%s: no image of the files is %s or has that name; the images are %s", flag, i.Old,
			i.New, i.Old, strings.Join(r.found, ", "))
	}
	return nil
}

// mergePatch is the merge patch that makes one spec of another. It has the fields in which they differ.
func mergePatch(base, target map[string]any) map[string]any {
	patch := map[string]any{}
	for key, value := range target {
		if reflect.DeepEqual(base[key], value) {
			continue
		}
		if a, isObject := base[key].(map[string]any); isObject {
			if b, isPatch := value.(map[string]any); isPatch {
				patch[key] = mergePatch(a, b)
				continue
			}
		}
		patch[key] = value
	}
	return patch
}
