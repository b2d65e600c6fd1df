# To compare by hand: every user of the machine can see the key among the arguments while it runs.
sign_user_id() {
  printf %s "$2" | openssl dgst -sha256 -hmac "$1" -binary | base64 | tr '+/' '-_' | tr -d '=\n'
}

# Without the line break at the end of a file.
sign_user_id "${CARILLON_IDENTITY_KEY//[[:space:]]/}" 'zoë/42'
