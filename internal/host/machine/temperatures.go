package machine

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/host/signs"
)

// mostSensors is up to how many sensors each have a series. The series of the highest value covers all.
const mostSensors = 24

// sensor is one of hwmon's (see the kernel's Documentation/hwmon/sysfs-interface.rst).
type sensor struct {
	file string // that has the temperature, in thousandths of a degree
	name string // "coretemp Package id 0"
}

// temperatures are those of all sensors that answer.
func (r *SignsReader) temperatures() ([]signs.Value, error) {
	if len(r.sensors) == 0 {
		found, err := sensorsUnder(filepath.Join(cmp.Or(r.Sys, "/sys"), "class/hwmon"))
		if err != nil {
			return nil, err
		}
		r.sensors = found
	}
	if len(r.sensors) == 0 {
		return nil, errors.New("this machine has no hwmon sensors of temperature, as most virtual machines")
	}
	var values []signs.Value
	var degrees []float64
	var lastErr error
	for _, s := range r.sensors {
		thousandths, err := numberIn(s.file)
		if err != nil {
			lastErr = err // only this sensor, as some sleep or break
			continue
		}
		degrees = append(degrees, thousandths/1e3)
		values = append(values, signs.Value{Series: "temperature", Part: s.name, Number: thousandths / 1e3})
	}
	if len(degrees) == 0 {
		return nil, fmt.Errorf("none of this machine's %d hwmon sensors answers: %w", len(r.sensors), lastErr)
	}
	_, _, highest := spread(degrees)
	return append([]signs.Value{{Series: "highest", Number: highest}}, values[:min(len(values), mostSensors)]...), nil
}

// sensorsUnder are the sensors of all chips, in their order.
func sensorsUnder(folder string) (sensors []sensor, err error) {
	chips, err := filepath.Glob(filepath.Join(folder, "hwmon*"))
	if err != nil {
		return nil, fmt.Errorf("this machine's hwmon sensors can't be listed: %w", err)
	}
	names := map[string]int{}
	for _, chip := range chips {
		names[textIn(filepath.Join(chip, "name"))]++
	}
	for _, chip := range chips {
		files, err := filepath.Glob(filepath.Join(chip, "temp*_input"))
		if err != nil {
			return nil, fmt.Errorf("the sensors of %s can't be listed: %w", filepath.Base(chip), err)
		}
		name := textIn(filepath.Join(chip, "name"))
		if names[name] > 1 {
			name += " " + whichOf(chip)
		}
		for _, file := range files {
			stem := strings.TrimSuffix(file, "_input")
			label := cmp.Or(textIn(stem+"_label"), filepath.Base(stem))
			sensors = append(sensors, sensor{file: file, name: strings.TrimSpace(name + " " + label)})
		}
	}
	slices.SortFunc(sensors, func(a, b sensor) int { // hwmon10 behind hwmon2, and temp10 behind temp2
		return cmp.Or(len(filepath.Dir(a.file))-len(filepath.Dir(b.file)), strings.Compare(filepath.Dir(a.file),
			filepath.Dir(b.file)), len(a.file)-len(b.file), strings.Compare(a.file, b.file))
	})
	return sensors, nil
}

// whichOf tells a chip from others of its name by its device, which stays the same from one start to the next.
func whichOf(chip string) string {
	device, err := os.Readlink(filepath.Join(chip, "device"))
	if err != nil {
		return filepath.Base(chip)
	}
	return filepath.Base(device)
}

// textIn is the text of a file, and empty where there is no file.
func textIn(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
