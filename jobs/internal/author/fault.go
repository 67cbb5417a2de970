package author

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
)

// network tells what kept a call from being answered at all. The error's own text
// may hold what a server sent.
func network(err error) error {
	var untrusted *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var name *net.DNSError
	switch {
	case errors.As(err, &untrusted):
		return fatal(Untrusted, "the service's certificate is not trusted")
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return fatal(Untrusted, "the service does not speak TLS")
	case errors.As(err, &name):
		return passing(Unreachable, "the service's name cannot be resolved")
	case errors.Is(err, syscall.ECONNREFUSED):
		return passing(Unreachable, "the service refuses connections")
	}
	return passing(Unreachable, "the connection to the service broke before it answered")
}

// complaint is a service's error. Its text is never shown.
type complaint struct {
	Type    string `json:"type"`
	Code    any    `json:"code"` // text or a number
	Message string `json:"message"`
}

// UnmarshalJSON reads the object that services send, and the bare text that some do.
func (c *complaint) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.Message) == nil {
		return nil
	}
	type plain complaint
	return json.Unmarshal(data, (*plain)(c))
}

// status is the fault of a response that is no answer.
func (c *call) status(response *http.Response, body io.Reader) error {
	if code := response.StatusCode; code >= 300 && code < 400 {
		return fatal(Redirected, "the service is somewhere else (status %d)", code)
	}
	var doc struct {
		Error *complaint `json:"error"`
	}
	text, _ := io.ReadAll(io.LimitReader(body, maxError)) // a part of it may be enough
	if json.Unmarshal(text, &doc) != nil || doc.Error == nil {
		doc.Error = &complaint{Message: string(text)}
	}
	f := doc.Error.fault(response.StatusCode)
	if f.Class == KeyRefused && c.key == "" {
		return fatal(NoKey, "the service wants a key, and author.keyEnv names none")
	}
	f.after = wish(response.Header, c.world.Now())
	return f
}

// kinds are the errors that services name, as the status they mean.
var kinds = map[string]int{
	"authentication_error": 401, "invalid_api_key": 401, "permission_error": 403,
	"billing_error": 402, "insufficient_quota": 402, "insufficient_balance": 402,
	"not_found_error": 404, "model_not_found": 404,
	"request_too_large": 413, "context_length_exceeded": 413, "exceed_context_size_error": 413,
	"rate_limit_error": 429, "rate_limit_exceeded": 429,
	"invalid_request_error": 400, "api_error": 500, "server_error": 500, "timeout_error": 504, "overloaded_error": 529,
}

// phrases tell errors that many services give no name of their own.
var phrases = []struct {
	words  string
	status int
}{
	{"prompt is too long", 413}, {"context length", 413}, {"context window", 413}, {"context size", 413}, {"too many tokens", 413},
	{"credit balance", 402},
}

// fault is what a complaint with a status (0 in a stream) means.
func (c *complaint) fault(status int) *fault {
	if c == nil {
		return passing(ServiceFailed, "the service failed")
	}
	in := ""
	if status != 0 {
		in = " (status " + strconv.Itoa(status) + ")"
	}
	switch status = c.meaning(status); status {
	case 401, 403:
		return fatal(KeyRefused, "the service does not accept the key%s", in)
	case 402:
		return fatal(NoCredit, "the account has no credit left%s", in)
	case 404:
		return fatal(UnknownModel, "the service does not know the model, or there is no such service%s", in)
	case 413:
		return fatal(PromptTooLong, "the pack is longer than the model can read%s", in)
	case 429, 503, 529:
		return passing(Overloaded, "the service is overloaded or limits the calls%s", in)
	case 0, 500, 502, 504:
		return passing(ServiceFailed, "the service failed%s", in)
	}
	if status >= 500 {
		return fatal(ServiceFailed, "the service failed%s", in)
	}
	return fatal(BadRequest, "the service did not accept the request%s", in)
}

// meaning is the status that says most: a service's names are more exact than its
// status, and some statuses mean several things.
func (c *complaint) meaning(status int) int {
	code, _ := c.Code.(string)
	if n, ok := c.Code.(float64); ok && status == 0 {
		status = int(n)
	}
	for _, name := range []string{code, c.Type} {
		if n, known := kinds[name]; known && (status == 0 || n == 402 || n == 413) {
			status = n
			break
		}
	}
	if status != 400 && status != 500 && status != 0 {
		return status
	}
	text := strings.ToLower(c.Message)
	for _, p := range phrases {
		if strings.Contains(text, p.words) {
			return p.status
		}
	}
	return status
}
