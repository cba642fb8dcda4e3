package admission

import (
	"fmt"
	"strings"

	"github.com/linerate-dev/linerate/internal/units"
)

const share = `^(\d{1,2}(\.\d{1,7})?|100)%$`

// forms say for each pattern of the schemas how a value is written. An API server shows the pattern itself.
var forms = map[string]string{
	`^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h)){1,4}$`: "write a duration with its unit, such as 500ms, 30s, 10m or 1h30m",
	share:                      "write a share from 0% to 100%, such as 0.1%",
	`^\d{1,15}(\.\d{1,9})?%?$`: `write a number in quotes, such as "150000", or a share with its percent sign, such as 95%`,
}

// form is how a value is written that doesn't match a pattern, in the words "must match '^…$'". Of a share it is what
// the value has to become.
func form(words string, value any) (string, bool) {
	pattern, found := strings.CutPrefix(words, "must match '")
	pattern = strings.TrimSuffix(pattern, "'")
	text, known := forms[pattern]
	if _, err := units.ParseShare(fmt.Sprint(value)); pattern == share && err != nil {
		text = err.Error()
	}
	return text, found && known
}
