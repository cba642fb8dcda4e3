package cni

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// Attachment is an interface of a container, as the runtime names it.
type Attachment struct {
	Container string `json:"container"`
	Interface string `json:"interface"`
	Namespace string `json:"namespace"` // path of the container's network namespace
}

// record says which pod has a device.
type record struct {
	Attachment
	Device string `json:"device"`
}

// alive says whether the container's namespace can still be reached. The runtime unmounts it when it is done with a
// container.
func (a Attachment) alive() bool {
	_, err := os.Stat(a.Namespace)
	return !errors.Is(err, fs.ErrNotExist)
}

// records are files of the node, one per attachment. They are used with the lock held.
type records struct{ dir string }

func (r records) file(a Attachment) string {
	return filepath.Join(r.dir, a.Container+"."+a.Interface+".json")
}

// lock keeps other processes from the records and from moving devices, until unlock.
func (r records) lock() (unlock func(), err error) { return vf.LockFolder(r.dir) }

func (r records) save(rec record) error {
	text, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return vf.WriteFile(r.file(rec.Attachment), text)
}

// load returns an attachment's record, or false if there is none.
func (r records) load(a Attachment) (record, bool, error) {
	rec, err := r.read(r.file(a))
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, false, nil
	}
	return rec, err == nil, err
}

func (r records) read(file string) (record, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return record{}, fmt.Errorf("read a record: %w", err)
	}
	var rec record
	if err := json.Unmarshal(text, &rec); err != nil {
		return record{}, fmt.Errorf("record %s: %w", file, err)
	}
	return rec, nil
}

// holder returns the record that has the device, or false if none has.
func (r records) holder(device string) (record, bool, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return record{}, false, fmt.Errorf("read the records: %w", err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		rec, err := r.read(filepath.Join(r.dir, e.Name()))
		if err != nil {
			return record{}, false, err
		}
		if rec.Device == device {
			return rec, true, nil
		}
	}
	return record{}, false, nil
}

func (r records) forget(a Attachment) error {
	if err := os.Remove(r.file(a)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget a record: %w", err)
	}
	return nil
}
