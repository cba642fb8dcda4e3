package profile

import (
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// programs are the processes whose functions were named, and the files that have these functions.
type programs struct {
	processes map[int][]*procfs.ProcMap
	files     map[string]*programFile // by their names and inodes
}

// programFile is a file with code.
type programFile struct {
	Program
	symbols
	segments []elf.ProgHeader
	used     bool
}

// name is the function of a process at an address: "[NAME]" where only the file is known, and "[unknown]" where
// nothing is, as of a process that has ended.
func (p *programs) name(pid int, address uint64) string {
	m := p.mapping(pid, address)
	switch {
	case m == nil || m.Pathname == "":
		return "[unknown]"
	case strings.HasPrefix(m.Pathname, "["): // [vdso]
		return m.Pathname
	}
	f := p.file(pid, m)
	f.used = true
	if at, found := f.linked(address - uint64(m.StartAddr) + uint64(m.Offset)); found {
		if name, found := f.find(at); found {
			return name
		}
	}
	return "[" + path.Base(m.Pathname) + "]"
}

func (p *programs) mapping(pid int, address uint64) *procfs.ProcMap {
	maps, read := p.processes[pid]
	if !read {
		if proc, err := procfs.NewProc(pid); err == nil {
			maps, _ = proc.ProcMaps() // one that has ended has none
		}
		if p.processes == nil {
			p.processes = map[int][]*procfs.ProcMap{}
		}
		p.processes[pid] = maps
	}
	for _, m := range maps {
		if uint64(m.StartAddr) <= address && address < uint64(m.EndAddr) {
			return m
		}
	}
	return nil
}

// file opens what a process mapped, by its own root, as a container's files are elsewhere.
func (p *programs) file(pid int, m *procfs.ProcMap) *programFile {
	key := fmt.Sprint(m.Dev, m.Inode, m.Pathname)
	if f, found := p.files[key]; found {
		return f
	}
	f := &programFile{Program: Program{Path: m.Pathname}}
	if p.files == nil {
		p.files = map[string]*programFile{}
	}
	p.files[key] = f
	deleted := strings.HasSuffix(m.Pathname, " (deleted)")
	name := fmt.Sprintf("/proc/%d/root%s", pid, m.Pathname)
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && exe == m.Pathname || deleted {
		name = fmt.Sprintf("/proc/%d/exe", pid) // also where the file was replaced or removed
	}
	opened, err := os.Open(name)
	if err != nil {
		return f
	}
	defer func() { _ = opened.Close() }()
	f.read(opened)
	return f
}

// used are the files whose functions were asked for.
func (p *programs) used() (all []Program) {
	for _, f := range p.files {
		if f.used {
			f.Path = printable(f.Path)
			all = append(all, f.Program)
		}
	}
	slices.SortFunc(all, func(a, b Program) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Build, b.Build))
	})
	return all
}

// linked is the address that a file's offset has in its own symbols.
func (f *programFile) linked(offset uint64) (uint64, bool) {
	for _, s := range f.segments {
		if s.Off <= offset && offset < s.Off+s.Filesz {
			return offset - s.Off + s.Vaddr, true
		}
	}
	return 0, false
}

// read takes a file's functions from its symbols, or, where a Go program has none, from the table that its own
// tracebacks use.
func (f *programFile) read(file *os.File) {
	e, err := elf.NewFile(file)
	if err != nil {
		return
	}
	f.Build = build(e, file)
	for _, s := range e.Progs {
		if s.Type == elf.PT_LOAD {
			f.segments = append(f.segments, s.ProgHeader)
		}
	}
	for _, list := range []func() ([]elf.Symbol, error){e.Symbols, e.DynamicSymbols} {
		listed, _ := list() // a file without symbols has an error
		for _, s := range listed {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 {
				end := uint64(0)
				if s.Size > 0 {
					end = s.Value + s.Size
				}
				f.symbols = append(f.symbols, symbol{s.Value, end, s.Name})
			}
		}
	}
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} { // the second where it runs at any address
		table, text := e.Section(name), e.Section(".text")
		if table != nil && text != nil && len(f.symbols) == 0 {
			f.symbols = goFunctions(table, text.Addr)
		}
	}
	f.sort()
}

func goFunctions(table *elf.Section, text uint64) (functions symbols) {
	lines, err := table.Data()
	if err != nil {
		return nil
	}
	parsed, err := gosym.NewTable(nil, gosym.NewLineTable(lines, text))
	if err != nil {
		return nil
	}
	for _, f := range parsed.Funcs {
		functions = append(functions, symbol{f.Entry, f.End, f.Name})
	}
	return functions
}

// build identifies a program by its build's id, or by its digest.
func build(e *elf.File, file io.ReaderAt) string {
	for _, note := range []struct{ section, kind string }{{".note.go.buildid", "go:"}, {".note.gnu.build-id", "gnu:"}} {
		s := e.Section(note.section)
		if s == nil {
			continue
		}
		data, err := s.Data()
		if err != nil || len(data) < 12 {
			continue
		}
		name, length := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
		begin := 12 + (uint64(name)+3)/4*4
		if end := begin + uint64(length); end <= uint64(len(data)) {
			id := data[begin:end]
			if note.kind == "gnu:" {
				return note.kind + fmt.Sprintf("%x", id)
			}
			return note.kind + string(id)
		}
	}
	digest := sha256.New()
	if _, err := io.Copy(digest, io.NewSectionReader(file, 0, 1<<62)); err != nil {
		return ""
	}
	return fmt.Sprintf("sha256:%x", digest.Sum(nil))
}
