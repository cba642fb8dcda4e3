package walkthrough

import (
	"fmt"
	"regexp"
	"strings"
)

// Step is a section of the page, in the order of the page.
type Step struct {
	// Title is the section's heading without its marks, such as "2. Virtual functions".
	Title string
	// Actions are what the reader does, in order.
	Actions []Action
}

// Action is a command of a console block, or another fenced block, which is a file.
type Action struct {
	// Line is the page's, from 1.
	Line int
	// Command is what follows the prompt, with its continuation lines. It is "" where the action is a file.
	Command string
	// Shows is what the page says that the command prints. A line of "…" stands for any lines, a "…" in a line for
	// any text.
	Shows []string
	// Language is the fenced block's; "" where the block names none.
	Language string
	// File is the block's text. It is "" where the action is a command.
	File string
	// Path is the file's, where the line before the block ends with it and a colon, as in `networks.yaml`:.
	Path string
}

const (
	fence        = "```"
	prompt       = "$ "
	continuation = "> "
)

// Read reads a page of Markdown.
func Read(page string) ([]Step, error) {
	r := reader{}
	for i, line := range strings.Split(page, "\n") {
		if err := r.read(i+1, line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if r.open {
		return nil, fmt.Errorf("the block of language %q never ends", r.language)
	}
	return r.steps, nil
}

// fileName is at the end of a line of text.
var fileName = regexp.MustCompile("`([^`]+)`:$")

// reader is what was read of a page so far.
type reader struct {
	steps    []Step
	open     bool // a fenced block is
	language string
	file     *Action // the open block's, unless it is a console
	path     string  // what the last line of text names
}

func (r *reader) read(number int, line string) error {
	switch {
	case strings.HasPrefix(line, fence):
		if r.open {
			r.path = ""
		}
		r.open, r.language, r.file = !r.open, strings.TrimPrefix(line, fence), nil
		if r.open && len(r.steps) == 0 {
			r.steps = append(r.steps, Step{})
		}
	case !r.open && strings.HasPrefix(line, "#"):
		r.steps = append(r.steps, Step{Title: strings.TrimSpace(strings.TrimLeft(line, "#"))})
	case r.open && r.language == "console":
		return r.readConsole(number, line)
	case r.open:
		if r.file == nil {
			r.file = r.add(Action{Line: number, Language: r.language, Path: r.path})
		}
		r.file.File += line + "\n"
	case strings.TrimSpace(line) != "":
		r.path = ""
		if named := fileName.FindStringSubmatch(line); named != nil {
			r.path = named[1]
		}
	}
	return nil
}

func (r *reader) readConsole(number int, line string) error {
	if command, found := strings.CutPrefix(line, prompt); found {
		r.add(Action{Line: number, Language: r.language, Command: command})
		return nil
	}
	actions := r.steps[len(r.steps)-1].Actions
	if len(actions) == 0 || actions[len(actions)-1].Command == "" {
		return fmt.Errorf("%q stands before any command: begin commands with %q", line, prompt)
	}
	last := &actions[len(actions)-1]
	if more, found := strings.CutPrefix(line, continuation); found {
		if len(last.Shows) > 0 {
			return fmt.Errorf("%q continues a command whose output is above", line)
		}
		last.Command += "\n" + more
		return nil
	}
	last.Shows = append(last.Shows, line)
	return nil
}

func (r *reader) add(a Action) *Action {
	step := &r.steps[len(r.steps)-1]
	step.Actions = append(step.Actions, a)
	return &step.Actions[len(step.Actions)-1]
}
