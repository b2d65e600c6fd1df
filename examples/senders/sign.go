package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
)

func signUserID(identityKey, userID string) string {
	mac := hmac.New(sha256.New, []byte(identityKey))
	mac.Write([]byte(userID))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func main() {
	fmt.Println(signUserID(os.Getenv("CARILLON_IDENTITY_KEY"), "zoë/42"))
}
