package main

import (
	"bytes"
	crand "crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

var client = http.Client{
	Timeout: 35 * time.Second,
	// The secret key would go to the other address.
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Without the line break at the end of a file.
var secretKey = strings.Join(strings.Fields(os.Getenv("CARILLON_SECRET_KEY")), "")

// key: a new one for each notification that nobody can guess, such as a UUID.
func send(notification any, key string) (string, error) {
	payload, err := json.Marshal(notification)
	for attempt := 0; err == nil; attempt++ {
		status, retryAfter, body, failure := post(payload, key)
		if failure == nil && status < 300 {
			return body, nil
		}
		transient := failure != nil || status == 409 || status == 429 || status >= 500
		isCap := strings.Contains(body, "send_cap_reached")
		if !transient || isCap || retryAfter > 60 || attempt == 5 {
			return "", fmt.Errorf("send failed: %v %d %s", failure, status, body)
		}
		backoff := float64(int(1)<<attempt) * (0.5 + rand.Float64()/2)
		time.Sleep(time.Duration((float64(retryAfter) + backoff) * float64(time.Second)))
	}
	return "", err
}

func post(payload []byte, key string) (status, retryAfter int, body string, err error) {
	url := strings.TrimSuffix(os.Getenv("CARILLON_BASE_URL"), "/") + "/api/v1/projects/" + os.Getenv("CARILLON_PROJECT") + "/notifications"
	request, err := http.NewRequest("POST", url, bytes.NewReader(payload))
	if err != nil {
		return
	}
	request.Header.Set("Authorization", "Bearer "+secretKey)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	response, err := client.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	retryAfter, _ = strconv.Atoi(response.Header.Get("Retry-After"))
	return response.StatusCode, retryAfter, string(content), err
}

func main() {
	random := make([]byte, 16)
	crand.Read(random)
	result, err := send(map[string]any{"title": "Doors open at eight"}, fmt.Sprintf("%x", random))
	fmt.Println(result)
	if err != nil {
		log.Fatal(err)
	}
}
