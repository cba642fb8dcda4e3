package suite

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

const (
	// maxTestName is how long a LoadTest's name may be, and maxLabel a label's value.
	maxTestName = 40
	maxLabel    = 63
	// onlyCell is the name of the cell of a suite without axes.
	onlyCell = "test"
	// hashLetters is the length of the hash that replaces values which are too long. The suite's name has at
	// most 26 letters, and with these and "-r100t9" a name has 40.
	hashLetters = 6
)

// name names each cell and its tests. The names depend only on the spec, which can't be changed.
//
//	four-systems-apu6-64b-r1        values, where they fit and no other cell's are the same letters
//	four-systems-k2x7qf-r12t2       else a hash of them; the second try of the twelfth repetition
func (m *Matrix) name() {
	joined := map[string]int{}
	for i := range m.Cells {
		joined[m.Cells[i].joinedValues()]++
	}
	stems := map[string]bool{}
	for i := range m.Cells {
		c := &m.Cells[i]
		if c.Name = c.joinedValues(); joined[c.Name] == 1 && m.fits(c.Name) {
			c.stem = m.suite.Name + "-" + c.Name
			stems[c.stem] = true
		}
	}
	names := map[string]bool{}
	for i := range m.Cells {
		c := &m.Cells[i]
		if c.stem == "" {
			c.stem = m.suite.Name + "-" + c.hash(hashLetters, func(h string) bool { return stems[m.suite.Name+"-"+h] })
			stems[c.stem] = true
		}
		if joined[c.joinedValues()] > 1 || len(c.Name) > maxLabel {
			short := strings.TrimRight(c.Name[:min(len(c.Name), maxLabel-hashLetters-3)], "-")
			c.Name = short + "-" + c.hash(hashLetters,
				func(h string) bool { return names[short+"-"+h] || joined[short+"-"+h] > 0 })
		}
		names[c.Name] = true
	}
}

// joinedValues are the cell's values joined by dashes. Several cells may have the same, as with the values a-b
// and c, and a and b-c.
func (c *Cell) joinedValues() string {
	if len(c.Values) == 0 {
		return onlyCell
	}
	words := make([]string, len(c.Values))
	for i, v := range c.Values {
		words[i] = string(v.Value)
	}
	return strings.Join(words, "-")
}

// fits says that names of tests have room for the cell's name.
func (m *Matrix) fits(cell string) bool {
	return len(m.suite.Name)+1+len(cell)+m.longestEnd() <= maxTestName
}

// longestEnd is the greatest length of what follows the cell in a test's name.
func (m *Matrix) longestEnd() int {
	n := len("-r") + len(strconv.Itoa(int(m.suite.Spec.Repetitions)))
	if m.retries() > 0 || m.MaxAge() > 0 {
		n += len("t9")
	}
	return n
}

// hash is a hash of the values in letters. used says which hashes another cell has.
func (c *Cell) hash(letters int, used func(string) bool) string {
	for salt := 0; ; salt++ {
		key := strconv.Itoa(salt)
		for _, v := range c.Values {
			key += fmt.Sprintf("/%s=%s", v.Axis, v.Value)
		}
		sum := sha256.Sum256([]byte(key))
		text := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:letters]
		if !used(text) {
			return text
		}
	}
}

// TestName is the name of the LoadTest of a cell's repetition and try, both from 1.
func (m *Matrix) TestName(cell int, repetition, try int32) string {
	// without Sprintf, since each decision makes several names of each test
	name := m.Cells[cell].stem + "-r" + strconv.Itoa(int(repetition))
	if try > 1 {
		name += "t" + strconv.Itoa(int(try))
	}
	return name
}

// testNames are the names that tests of a cell may have, in their order.
func (m *Matrix) testNames(cell int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for r := range m.repetitions() {
			for try := range m.retriesOf(cell) + 1 {
				if !yield(m.TestName(cell, r+1, try+1)) {
					return
				}
			}
		}
	}
}
