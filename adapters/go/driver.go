// A driver for mqconform over the queue manager in queue_manager.go: one JSON object a line on stdin and stdout.
// Calls of this queue manager block, so each read that may wait has a goroutine of its own.

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"sync"
)

// Members are the members of a JSON object.
type Members map[string]interface{}

// Params are the parameters of all methods; a request has some of them. A handle is any text or number.
type Params struct {
	StateDir   string      `json:"state_dir"`
	PathName   string      `json:"path_name"`
	FormatName string      `json:"format_name"`
	Access     string      `json:"access"`
	Queue      interface{} `json:"queue"`
	Cursor     interface{} `json:"cursor"`
	TimeoutMs  int64       `json:"timeout_ms"`
	Request    int64       `json:"request"`
	Message    struct {
		Body     string `json:"body"`
		Label    Text   `json:"label"`
		Priority *int   `json:"priority"`
	} `json:"message"`
}

// Request is a line of mqconform.
type Request struct {
	ID     int64  `json:"id"`
	Method string `json:"method"`
	Params Params `json:"params"`
}

// Method does what a request says. It answers, or returns the code of a failure.
type Method func(number int64, params Params) Code

var (
	manager *Manager
	output  sync.Mutex
	facets  = map[string][]string{} // declared by hello: facet -> its methods
	methods = map[string]Method{}   // "queues.create" -> what it does
	handles = map[interface{}]*Handle{}
	cursors = map[interface{}]*Cursor{}
	accepts = map[string][]string{ // the values that methods accept; a missing list means all values
		"message": {"body", "label", "priority"}, "properties": {},
		"access": {"send", "receive", "peek"}, "share": {"deny_none"}, "format_names": {},
	}
)

// method registers a method under a name, so that hello declares only methods that exist.
func method(name string, does Method) {
	facet, short, found := strings.Cut(name, ".")
	if !found {
		facet, short = "manager", name
	}
	facets[facet] = append(facets[facet], short)
	methods[name] = does
}

// write writes a line. Goroutines answer at the same time: the lock keeps their lines apart.
func write(line Members) {
	line["jsonrpc"] = "2.0"
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	output.Lock()
	defer output.Unlock()
	os.Stdout.Write(append(text, '\n'))
}

func answer(number int64, code Code, members Members) Code {
	if members == nil {
		members = Members{}
	}
	members["status"] = code
	write(Members{"id": number, "result": members})
	return 0
}

func hello(number int64, params Params) Code {
	manager = NewManager(params.StateDir)
	return answer(number, 0, Members{"protocol": "1.1", "name": "memory", "version": "1", "profile": "msmq-4.0",
		"computer": "HOST", "facets": facets, "accepts": accepts, "clock": "real", "slack_ms": 500})
}

func send(number int64, params Params) Code {
	handle := handles[params.Queue]
	if handle == nil {
		return invalidHandle
	}
	message, priority := params.Message, 3
	if message.Priority != nil {
		priority = *message.Priority
	}
	if code := handle.Send(message.Body, message.Label, priority); code != 0 {
		return code
	}
	return answer(number, 0, nil)
}

// read returns the method for a kind of read. The call blocks if there is no message, and the driver must go on reading
// requests: a later send may bring the message. So the call has a goroutine, which answers when the call returns.
// Without a time-out it cannot block.
func read(kind Kind) Method {
	return func(number int64, params Params) Code {
		handle, cursor := handles[params.Queue], cursors[params.Cursor]
		if handle == nil || (cursor == nil && params.Cursor != nil) {
			return invalidHandle
		}
		call := func() {
			message, code := handle.Read(kind, cursor, params.TimeoutMs, number, func() { pending(number) })
			if code != 0 {
				answer(number, code, nil)
				return
			}
			shown := Members{"body": message.body, "label": message.label, "priority": message.priority}
			answer(number, 0, Members{"message": shown})
		}
		if params.TimeoutMs == 0 {
			call()
		} else {
			go call()
		}
		return 0
	}
}

// pending: the queue manager says that a read is in line. If your API has no such sign, leave it out: a timer would guess.
func pending(number int64) {
	write(Members{"method": "pending", "params": Members{"id": number}})
}

func offer() {
	method("hello", hello)
	method("stop", func(number int64, params Params) Code {
		answer(number, 0, nil)
		os.Exit(0)
		return 0
	})
	method("reset", func(number int64, params Params) Code {
		manager.Reset()
		handles, cursors = map[interface{}]*Handle{}, map[interface{}]*Cursor{}
		return answer(number, 0, nil)
	})
	method("queues.create", func(number int64, params Params) Code {
		formatName, code := manager.Create(params.PathName)
		if code != 0 {
			return code
		}
		return answer(number, 0, Members{"format_name": formatName})
	})
	method("queues.delete", func(number int64, params Params) Code {
		return answer(number, manager.Delete(params.FormatName), nil)
	})
	method("queues.open", func(number int64, params Params) Code {
		handle, code := manager.Open(params.FormatName, params.Access)
		if code != 0 {
			return code
		}
		handles[float64(number)] = handle // numbers of JSON are float64
		return answer(number, 0, Members{"queue": number})
	})
	method("queues.close", func(number int64, params Params) Code {
		handle := handles[params.Queue]
		if handle == nil {
			return invalidHandle
		}
		return answer(number, handle.Close(), nil)
	})
	method("cursors.open", func(number int64, params Params) Code {
		handle := handles[params.Queue]
		if handle == nil {
			return invalidHandle
		}
		cursor, code := handle.OpenCursor()
		if code != 0 {
			return code
		}
		cursors[float64(number)] = cursor
		return answer(number, 0, Members{"cursor": number})
	})
	method("cursors.close", func(number int64, params Params) Code {
		cursor := cursors[params.Cursor]
		if cursor == nil {
			return invalidHandle
		}
		return answer(number, cursor.Close(), nil)
	})
	method("messages.send", send)
	method("messages.receive", read(receive))
	method("messages.peek", read(peek))
	method("messages.peek_next", read(peekNext))
	method("messages.cancel", func(number int64, params Params) Code {
		return answer(number, manager.Cancel(params.Request), nil)
	})
}

func main() {
	offer()
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return // the end of the input ends the driver, and the reads that wait
		}
		var request Request
		if err := json.Unmarshal(line, &request); err != nil {
			panic(err)
		}
		does := methods[request.Method]
		if does == nil {
			write(Members{"id": request.ID, "error": Members{"code": -32601, "message": "no such method"}})
			continue
		}
		if code := does(request.ID, request.Params); code != 0 {
			answer(request.ID, code, nil)
		}
	}
}
