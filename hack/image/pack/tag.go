package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"os"
	"slices"
)

// Tag names an image by its programs' content: a new build is a new image, and pods of the old one are
// replaced. Programs are files by their name in the image.
func Tag(prefix string, programs map[string]string) (string, error) {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		if err := add(sum, programs[name]); err != nil {
			return "", err
		}
	}
	return prefix + "-" + hex.EncodeToString(sum.Sum(nil))[:12], nil
}

func add(archive io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	_, err = io.Copy(archive, file)
	return err
}
