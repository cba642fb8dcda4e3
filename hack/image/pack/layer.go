package pack

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// layer is an uncompressed tar, in memory: images of single programs are small.
type layer []byte

func (l layer) open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(l)), nil }

// layerOf packs files in the order of their paths, each behind its folders. What is one file here under several
// names is one there, too: a loader of libraries would load each copy.
func layerOf(files map[string]string) (layer, error) {
	var content bytes.Buffer
	archive := tar.NewWriter(&content)
	folderMade, packed := map[string]bool{"/": true}, map[string]string{}
	for _, inside := range slices.Sorted(maps.Keys(files)) {
		if err := checkPath(inside); err != nil {
			return nil, err
		}
		err := folders(archive, path.Dir(inside), folderMade)
		if err == nil {
			err = file(archive, inside, files[inside], packed)
		}
		if err != nil {
			return nil, fmt.Errorf("pack %s as %s: %w", files[inside], inside, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("end the layer: %w", err)
	}
	return content.Bytes(), nil
}

func checkPath(inside string) error {
	if !path.IsAbs(inside) || path.Clean(inside) != inside || inside == "/" {
		return fmt.Errorf("path in the image %q: say it in full, as in /manager", inside)
	}
	return nil
}

func folders(archive *tar.Writer, dir string, folderMade map[string]bool) error {
	if folderMade[dir] {
		return nil
	}
	if err := folders(archive, path.Dir(dir), folderMade); err != nil {
		return err
	}
	folderMade[dir] = true
	return archive.WriteHeader(header(tar.TypeDir, dir+"/", 0o755, 0))
}

// file packs a local file, or a link to the path at which the same one is packed.
func file(archive *tar.Writer, inside, local string, packed map[string]string) error {
	local, err := filepath.EvalSymlinks(local)
	if err != nil {
		return err
	}
	f, err := os.Open(local)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it isn't a regular file")
	}
	if first, duplicate := packed[local]; duplicate {
		link := header(tar.TypeLink, inside, modeOf(info), 0)
		link.Linkname = strings.TrimPrefix(first, "/")
		return archive.WriteHeader(link)
	}
	packed[local] = inside
	if err := archive.WriteHeader(header(tar.TypeReg, inside, modeOf(info), info.Size())); err != nil {
		return err
	}
	_, err = io.Copy(archive, f)
	return err
}

func modeOf(info fs.FileInfo) int64 {
	if info.Mode()&0o100 != 0 {
		return 0o755
	}
	return 0o644
}

func header(kind byte, inside string, mode, size int64) *tar.Header {
	return &tar.Header{Typeflag: kind, Name: strings.TrimPrefix(inside, "/"), Mode: mode, Size: size, ModTime: moment(),
		Format: tar.FormatPAX}
}

// replace writes a file beside out, and renames it to out when it is complete.
func replace(path string, write func(partial string) error) error {
	partial, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { _ = os.Remove(partial.Name()) }()
	if err := partial.Close(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := write(partial.Name()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Chmod(partial.Name(), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(partial.Name(), path); err != nil {
		return fmt.Errorf("name %s: %w", path, err)
	}
	return nil
}
