package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
)

func signUserID(identityKey, userID string) string {
	mac := hmac.New(sha256.New, []byte(identityKey))
	mac.Write([]byte(userID))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func main() {
	// Without the line break at the end of a file.
	fmt.Println(signUserID(strings.TrimSpace(os.Getenv("CARILLON_IDENTITY_KEY")), "zoë/42"))
}
