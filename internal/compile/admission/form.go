package admission

import "strings"

// forms say for each pattern of the schemas how a value is written. An API server shows the pattern itself.
var forms = map[string]string{
	`^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h)){1,4}$`: "write a duration with its unit, such as 500ms, 30s, 10m or 1h30m",
}

// form is how a value is written that doesn't match a pattern, in the words "must match '^…$'".
func form(words string) (string, bool) {
	pattern, found := strings.CutPrefix(words, "must match '")
	text, known := forms[strings.TrimSuffix(pattern, "'")]
	return text, found && known
}
