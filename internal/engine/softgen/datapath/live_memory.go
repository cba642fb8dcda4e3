package datapath

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Each sending thread shares one array map with user space, and each port's part of a run on a thread shares
// another. Every word has one writer. kernel/send.h has their layout, from which Go's types are generated.

// liveNever is a due time that never comes (NEVER in kernel/send.h).
const liveNever = ^uint64(0)

// mappedArray is an array map of one entry, mapped into this process's memory.
type mappedArray struct {
	array *ebpf.Map
	bytes []byte
}

// mapWords maps a map of one T. Words are loaded and stored atomically.
// Closing mapped closes the map, also after an error.
func mapWords[T any](array *ebpf.Map) (mapped mappedArray, words *T, err error) {
	bytes, err := unix.Mmap(array.FD(), 0, int(unsafe.Sizeof(*words)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return mappedArray{array: array}, nil, err
	}
	return mappedArray{array, bytes}, (*T)(unsafe.Pointer(&bytes[0])), nil
}

func (m mappedArray) close() error {
	if m.bytes == nil {
		return m.array.Close()
	}
	return errors.Join(unix.Munmap(m.bytes), m.array.Close())
}

// liveTable is what the programs of a run only read. It has long templates and lists of values.
type liveTable struct {
	values *ebpf.Map
	bytes  []byte
}

// add appends bytes, and returns their offset.
func (t *liveTable) add(b []byte) (offset uint32) {
	offset = uint32(len(t.bytes))
	t.bytes = append(t.bytes, b...)
	for len(t.bytes)%8 != 0 {
		t.bytes = append(t.bytes, 0)
	}
	return offset
}

func (t *liveTable) addList(list []uint64) uint32 {
	var b []byte
	for _, v := range list {
		b = binary.NativeEndian.AppendUint64(b, v)
	}
	return t.add(b)
}

// load makes the map, which ends adding.
func (t *liveTable) load() (err error) {
	if len(t.bytes) == 0 {
		t.bytes = make([]byte, 8)
	}
	spec := ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: uint32(len(t.bytes)), MaxEntries: 1,
		Flags: unix.BPF_F_RDONLY_PROG}
	t.values, err = ebpf.NewMap(&spec)
	if err != nil {
		return err
	}
	return t.values.Put(uint32(0), t.bytes)
}
