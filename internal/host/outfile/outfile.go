package outfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Files are for everybody to read, for their owner, or programs.
const (
	ForAll   fs.FileMode = 0o644
	ForOwner fs.FileMode = 0o600
	Program  fs.FileMode = 0o755
)

// File is written beside its final name until Place gives it that name. Nobody but its owner may read it before.
type File struct {
	*os.File
	folder          *os.Root
	temporary, name string
	mode            fs.FileMode
}

// Create begins a file, so that an unwritable place is known before anything is measured.
func Create(name string, mode fs.FileMode) (*File, error) {
	folder, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	temporary := ".linerate-" + rand.Text()
	f, err := folder.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ForOwner)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write in %s: %w", filepath.Dir(name), err), folder.Close())
	}
	return &File{File: f, folder: folder, temporary: temporary, name: filepath.Base(name), mode: mode}, nil
}

// Place gives the file its mode and its name. Where that fails, no file is left.
func (f *File) Place() error {
	err := errors.Join(f.Chmod(f.mode), f.Close())
	if err == nil {
		err = f.folder.Rename(f.temporary, f.name)
	}
	if err != nil {
		err = errors.Join(err, f.folder.Remove(f.temporary))
	}
	return errors.Join(err, f.folder.Close())
}

// Discard removes a file that isn't needed after all.
func (f *File) Discard() error {
	return errors.Join(f.Close(), f.folder.Remove(f.temporary), f.folder.Close())
}

// Write writes a whole file.
func Write(name string, content []byte, mode fs.FileMode) error {
	f, err := Create(name, mode)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Place()
}
