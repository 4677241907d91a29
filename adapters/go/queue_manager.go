// A queue manager in memory, to be replaced by yours. It does not depend on mqconform; driver.go drives it.
// Its reads block: a goroutine that finds no message waits in Handle.wait until another one ends its read.
// It keeps its durable state, the names of the queues, in a file. Messages are lost when it ends.

package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Code is an HRESULT of MS-MQMQ 2.4: an operation failed.
type Code uint32

const (
	queueNotFound       Code = 0xC00E0003
	queueExists         Code = 0xC00E0005
	invalidHandle       Code = 0xC00E0007
	cancelled           Code = 0xC00E0008
	wrongPathName       Code = 0xC00E0014
	propertyValue       Code = 0xC00E0018
	ioTimeout           Code = 0xC00E001B
	illegalCursorAction Code = 0xC00E001C
	alreadyReceived     Code = 0xC00E001D
	wrongFormatName     Code = 0xC00E001E
	accessDenied        Code = 0xC00E0025
	queueDeleted        Code = 0xC00E005A
	labelTooLong        Code = 0xC00E005D
	messageNotFound     Code = 0xC00E0088
	notFound            Code = 0xC0000225
)

const (
	infinite = math.MaxUint32 // a time-out that never ends
	start    = -1             // a place in front of every message
	end      = math.MaxInt64  // a place behind every message
	direct   = "DIRECT=OS:"
)

var privateQueue = regexp.MustCompile(`(?i)^[!-~]+\\private\$\\[!#-*\x2d-:<-\x5b\x5d-\x7f]{1,124}$`)

// Message is a message. place: in its queue; a smaller number is nearer to the front.
type Message struct {
	body     string
	label    Text
	priority int
	place    int64
}

// Kind is a way to read.
type Kind int

const (
	receive Kind = iota
	peek
	peekNext
)

// Read is a read that waits. Whoever ends it gives it a code, or a message, and wakes its goroutine.
type Read struct {
	call    int64 // the caller's name for it
	handle  *Handle
	cursor  *Cursor
	takes   bool
	wakeUp  *sync.Cond
	ended   bool
	code    Code
	message *Message
}

func (read *Read) end(code Code, message *Message) {
	if read.ended {
		return
	}
	read.handle.queue.leave(read)
	read.ended, read.code, read.message = true, code, message
	if read.cursor != nil && code == 0 {
		read.cursor.standAt(message, read.takes)
	} else if read.cursor != nil {
		read.cursor.standAtEnd()
	}
	read.wakeUp.Signal()
}

// Queue has messages in the order of receipt, and the line of reads that wait for one, oldest first.
type Queue struct {
	pathName string
	messages []*Message
	line     []*Read
	deleted  bool
}

// put gives the new message to the reads in line, in their order, until one takes it.
func (queue *Queue) put(message *Message) {
	index := 0
	for index < len(queue.messages) && queue.messages[index].place < message.place {
		index++
	}
	behind := append([]*Message{message}, queue.messages[index:]...)
	queue.messages = append(queue.messages[:index], behind...)
	for _, read := range queue.waiting() {
		read.end(0, message)
		if read.takes {
			queue.remove(message)
			return
		}
	}
}

func (queue *Queue) remove(message *Message) {
	for index, each := range queue.messages {
		if each == message {
			queue.messages = append(queue.messages[:index], queue.messages[index+1:]...)
			return
		}
	}
}

func (queue *Queue) has(message *Message) bool {
	for _, each := range queue.messages {
		if each == message {
			return true
		}
	}
	return false
}

// behind returns the first message behind a place, or nil.
func (queue *Queue) behind(place int64) *Message {
	for _, message := range queue.messages {
		if message.place > place {
			return message
		}
	}
	return nil
}

// waiting returns a copy of the line, because a read that ends leaves the line.
func (queue *Queue) waiting() []*Read {
	return append([]*Read(nil), queue.line...)
}

func (queue *Queue) leave(read *Read) {
	for index, each := range queue.line {
		if each == read {
			queue.line = append(queue.line[:index], queue.line[index+1:]...)
			return
		}
	}
}

// State is the state of a cursor.
type State int

const (
	unread  State = iota // its next read looks behind its place
	hasRead              // it stands at a message that it has peeked
	waits                // a read waits with it
)

// Cursor is a place in a queue.
type Cursor struct {
	handle  *Handle
	state   State
	place   int64
	message *Message
	closed  bool
}

// find returns the message to read, or nil if the read has to wait.
func (cursor *Cursor) find(kind Kind) (*Message, Code) {
	queue := cursor.handle.queue
	if cursor.state == waits || (cursor.state == unread && kind == peekNext) {
		return nil, illegalCursorAction
	}
	if cursor.state == unread || kind == peekNext {
		return queue.behind(cursor.place), 0
	}
	if !queue.has(cursor.message) {
		return nil, alreadyReceived
	}
	return cursor.message, 0
}

func (cursor *Cursor) standAt(message *Message, takes bool) {
	cursor.message, cursor.place, cursor.state = message, message.place, hasRead
	if takes {
		cursor.state = unread
	}
}

func (cursor *Cursor) standAtEnd() {
	cursor.place, cursor.state = end, unread
}

// Handle is a queue opened for an access: send, receive or peek. Any goroutine may use it.
type Handle struct {
	manager *Manager
	queue   *Queue
	access  string
	closed  bool
}

func (handle *Handle) check(allowed ...string) Code {
	if handle.closed {
		return invalidHandle
	}
	if handle.queue.deleted {
		return queueDeleted
	}
	for _, access := range allowed {
		if handle.access == access {
			return 0
		}
	}
	return accessDenied
}

// Send puts a message into the queue.
func (handle *Handle) Send(body string, label Text, priority int) Code {
	handle.manager.lock.Lock()
	defer handle.manager.lock.Unlock()
	if code := handle.check("send"); code != 0 {
		return code
	}
	if len(label) > 249 {
		return labelTooLong
	}
	for _, unit := range label {
		if unit == 0 {
			return propertyValue
		}
	}
	handle.queue.put(&Message{body, label, priority, handle.manager.nextPlace(priority)})
	return 0
}

// Read blocks until there is a message, until the time is over, or until somebody cancels the call, closes the handle or
// the cursor, or deletes the queue. cursor: nil for none. inLine: called if the read has to wait, once it is in line.
func (handle *Handle) Read(kind Kind, cursor *Cursor, timeoutMs int64, call int64, inLine func()) (*Message, Code) {
	handle.manager.lock.Lock()
	defer handle.manager.lock.Unlock()
	takes := kind == receive
	allowed := []string{"receive", "peek"}
	if takes {
		allowed = allowed[:1]
	}
	if code := handle.check(allowed...); code != 0 {
		return nil, code
	}
	found, code := handle.queue.behind(start), Code(0)
	if cursor != nil {
		if cursor.closed || cursor.handle != handle {
			return nil, invalidHandle
		}
		found, code = cursor.find(kind)
	}
	if code != 0 {
		return nil, code
	}
	if found == nil && timeoutMs == 0 && takes && cursor != nil {
		return nil, messageNotFound
	}
	if found == nil {
		read := &Read{call: call, handle: handle, cursor: cursor, takes: takes}
		return handle.wait(read, timeoutMs, inLine)
	}
	if cursor != nil {
		cursor.standAt(found, takes)
	}
	if takes {
		handle.queue.remove(found)
	}
	return found, 0
}

// wait is where the calling goroutine waits. Wait lets go of the lock meanwhile, and has it again when it returns.
func (handle *Handle) wait(read *Read, timeoutMs int64, inLine func()) (*Message, Code) {
	lock := &handle.manager.lock
	read.wakeUp = sync.NewCond(lock)
	handle.queue.line = append(handle.queue.line, read)
	if read.cursor != nil {
		read.cursor.state = waits
	}
	if timeoutMs == 0 {
		read.end(ioTimeout, nil)
		return nil, read.code
	}
	inLine()
	if timeoutMs != infinite { // a condition of Go has no time-out: a timer ends the read, as others do
		timer := time.AfterFunc(time.Duration(timeoutMs)*time.Millisecond, func() {
			lock.Lock()
			defer lock.Unlock()
			read.end(ioTimeout, nil)
		})
		defer timer.Stop()
	}
	for !read.ended {
		read.wakeUp.Wait()
	}
	return read.message, read.code
}

// OpenCursor makes a cursor in front of the first message.
func (handle *Handle) OpenCursor() (*Cursor, Code) {
	handle.manager.lock.Lock()
	defer handle.manager.lock.Unlock()
	if code := handle.check("receive", "peek"); code != 0 {
		return nil, code
	}
	return &Cursor{handle: handle, place: start}, 0
}

// Close ends the reads that wait with this cursor.
func (cursor *Cursor) Close() Code {
	cursor.handle.manager.lock.Lock()
	defer cursor.handle.manager.lock.Unlock()
	if cursor.closed || cursor.handle.closed {
		return invalidHandle
	}
	cursor.closed = true
	for _, read := range cursor.handle.queue.waiting() {
		if read.cursor == cursor {
			read.end(cancelled, nil)
		}
	}
	return 0
}

// Close ends the reads that wait with this handle.
func (handle *Handle) Close() Code {
	handle.manager.lock.Lock()
	defer handle.manager.lock.Unlock()
	if handle.closed {
		return invalidHandle
	}
	handle.closed = true
	for _, read := range handle.queue.waiting() {
		if read.handle == handle {
			read.end(cancelled, nil)
		}
	}
	return 0
}

// Manager has all queues, by path name in lower case: names are case-insensitive. Its lock guards everything.
type Manager struct {
	lock   sync.Mutex
	queues map[string]*Queue
	file   string
	sent   int64
}

// NewManager reads the queues of a folder.
func NewManager(folder string) *Manager {
	manager := &Manager{queues: map[string]*Queue{}, file: filepath.Join(folder, "queues.txt")}
	text, _ := os.ReadFile(manager.file)
	for _, pathName := range strings.Fields(string(text)) {
		manager.queues[strings.ToLower(pathName)] = &Queue{pathName: pathName}
	}
	return manager
}

func (manager *Manager) save() {
	text := ""
	for _, queue := range manager.queues {
		text += queue.pathName + "\n"
	}
	err := os.WriteFile(manager.file+".new", []byte(text), 0o666)
	if err == nil {
		err = os.Rename(manager.file+".new", manager.file)
	}
	if err != nil {
		panic(err)
	}
}

// nextPlace returns a place: higher priorities are nearer to the front; of one priority, the first that was sent.
func (manager *Manager) nextPlace(priority int) int64 {
	manager.sent++
	return int64(7-priority)<<48 + manager.sent
}

// Create makes a queue and returns its format name.
func (manager *Manager) Create(pathName string) (string, Code) {
	manager.lock.Lock()
	defer manager.lock.Unlock()
	if !privateQueue.MatchString(pathName) {
		return "", wrongPathName
	}
	if manager.queues[strings.ToLower(pathName)] != nil {
		return "", queueExists
	}
	manager.queues[strings.ToLower(pathName)] = &Queue{pathName: pathName}
	manager.save()
	return direct + pathName, 0
}

func (manager *Manager) find(formatName string) (*Queue, Code) {
	if len(formatName) < len(direct) || !strings.EqualFold(formatName[:len(direct)], direct) {
		return nil, wrongFormatName
	}
	pathName := formatName[len(direct):]
	if !privateQueue.MatchString(pathName) {
		return nil, wrongFormatName
	}
	queue := manager.queues[strings.ToLower(pathName)]
	if queue == nil {
		return nil, queueNotFound
	}
	return queue, 0
}

// Open opens a queue.
func (manager *Manager) Open(formatName, access string) (*Handle, Code) {
	manager.lock.Lock()
	defer manager.lock.Unlock()
	queue, code := manager.find(formatName)
	return &Handle{manager: manager, queue: queue, access: access}, code
}

// Delete deletes a queue; its handles stay open, and are of no use.
func (manager *Manager) Delete(formatName string) Code {
	manager.lock.Lock()
	defer manager.lock.Unlock()
	queue, code := manager.find(formatName)
	if code == 0 {
		manager.remove(queue)
		manager.save()
	}
	return code
}

// Reset deletes every queue.
func (manager *Manager) Reset() {
	manager.lock.Lock()
	defer manager.lock.Unlock()
	for _, queue := range manager.queues {
		manager.remove(queue)
	}
	manager.save()
}

func (manager *Manager) remove(queue *Queue) {
	delete(manager.queues, strings.ToLower(queue.pathName))
	queue.deleted = true
	for _, read := range queue.waiting() {
		read.end(queueDeleted, nil)
	}
}

// Cancel ends the read that waits for this call.
func (manager *Manager) Cancel(call int64) Code {
	manager.lock.Lock()
	defer manager.lock.Unlock()
	for _, queue := range manager.queues {
		for _, read := range queue.waiting() {
			if read.call == call {
				read.end(cancelled, nil)
				return 0
			}
		}
	}
	return notFound
}
