package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// packed is a local file, and what it is called in an archive.
type packed struct {
	local, name string
	mode        int64
}

// writeArchive writes a tar.gz of files. Owners and times are fixed, so that the same files give the same archive.
func writeArchive(path string, files []packed) error {
	var contents []content
	for _, p := range files {
		data, err := os.ReadFile(p.local)
		if err != nil {
			return err
		}
		contents = append(contents, content{p.name, data, p.mode})
	}
	return writeContents(path, contents)
}

// content is a file of an archive.
type content struct {
	name string
	data []byte
	mode int64
}

func writeContents(path string, contents []content) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	compressed := gzip.NewWriter(file)
	archive := tar.NewWriter(compressed)
	for _, c := range contents {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: c.name, Mode: c.mode, Size: int64(len(c.data)),
			ModTime: time.Unix(0, 0).UTC(), Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return errors.Join(err, file.Close())
		}
		if _, err := archive.Write(c.data); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	return errors.Join(archive.Close(), compressed.Close(), file.Close())
}

func sumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// writeSums writes the sums of the folder's files, as sha256sum -c reads them.
func writeSums(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	var lines []string
	for _, entry := range entries {
		if !entry.Type().IsRegular() || entry.Name() == sumsFile {
			continue
		}
		sum, err := sumOf(filepath.Join(path, entry.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%s  %s\n", sum, entry.Name()))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return os.WriteFile(filepath.Join(path, sumsFile), []byte(strings.Join(lines, "")), 0o644)
}
