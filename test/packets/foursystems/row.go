package foursystems

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// row is a line of a table that people read, as far as it is looked at.
type row struct {
	product, loadtest string
	packetsPerSecond  float64 // 0: it says that there is no figure
	bound             bool    // it says "or more"
}

// rowsOf reads the table in what linerate wrote in a format.
func rowsOf(format, text string) ([]row, error) {
	switch format {
	case "text":
		return rowsOfLines(text, func(line string) []string { return columns.Split(strings.TrimSpace(line), -1) })
	case "markdown":
		return rowsOfLines(text, func(line string) []string { return fieldsOfMarkdown(line) })
	default:
		return rowsOfHTML(text)
	}
}

var columns = regexp.MustCompile(` {2,}`)

func fieldsOfMarkdown(line string) []string {
	fields := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields
}

// rowsOfLines reads a table that begins with product, loadtest and packets/s, below its head and a rule.
func rowsOfLines(text string, fields func(line string) []string) (rows []row, err error) {
	inside := false
	for line := range strings.Lines(text) {
		switch f := fields(line); {
		case len(f) > 2 && f[0] == "product" && f[1] == "loadtest":
			inside = true
		case !inside || len(f) > 2 && strings.Trim(f[0], ":-") == "":
		case len(f) < 3:
			return rows, nil
		default:
			rate, bound, err := rateOf(f[2])
			if err != nil {
				return nil, err
			}
			rows = append(rows, row{f[0], f[1], rate, bound})
		}
	}
	return rows, nil
}

// notMeasured stands where there is no figure.
const notMeasured = "not measured"

// rateOf reads a figure such as "≥654.40 k"; ~ says that it isn't confirmed.
func rateOf(figure string) (rate float64, bound bool, err error) {
	if figure == notMeasured {
		return 0, false, nil
	}
	number, bound := strings.CutPrefix(strings.TrimPrefix(figure, "~"), "≥")
	number, prefix, _ := strings.Cut(number, " ")
	factor, found := map[string]float64{"": 1, "k": 1e3, "M": 1e6}[prefix]
	rate, err = strconv.ParseFloat(number, 64)
	if err != nil || !found {
		return 0, false, fmt.Errorf("%q is no figure", figure)
	}
	return rate * factor, bound, nil
}

var (
	htmlRow  = regexp.MustCompile(`<tr>(?:<th scope="rowgroup"[^>]*>([^<]+)</th>)?<th scope="row">([^<]+)</th>(.*)</tr>`)
	htmlRate = regexp.MustCompile(`title="([0-9,]+) packets per second">(≥?)`)
)

// rowsOfHTML reads the page's first table, in which a loadtest is the head of a group of rows. A map of the
// same figures follows it.
func rowsOfHTML(text string) (rows []row, err error) {
	text, _, _ = strings.Cut(text, "</table>")
	loadtest := ""
	for _, m := range htmlRow.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			loadtest = m[1]
		}
		figure := htmlRate.FindStringSubmatch(m[3])
		if figure == nil {
			if !strings.Contains(m[3], notMeasured) {
				return nil, fmt.Errorf("the row of %s, %s has no figure", m[2], loadtest)
			}
			figure = []string{"", "0", ""}
		}
		rate, err := strconv.ParseFloat(strings.ReplaceAll(figure[1], ",", ""), 64)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{m[2], loadtest, rate, figure[2] != ""})
	}
	return rows, nil
}
