# send <notification> [<idempotency key>]
send() {
  local key body status retry_after attempt
  key=${2:-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')}
  for attempt in 0 1 2 3 4 5; do
    # The secret key is passed as a file: every user of the machine can see arguments. Without a file's line break.
    body=$(curl -sS --max-time 35 "${CARILLON_BASE_URL%/}/api/v1/projects/$CARILLON_PROJECT/notifications" \
      -H @<(echo "Authorization: Bearer ${CARILLON_SECRET_KEY//[[:space:]]/}") \
      -H 'Content-Type: application/json' -H "Idempotency-Key: $key" \
      --data-binary "$1" -w '\n%{http_code} %header{retry-after}') || true
    read -r status retry_after <<< "${body##*$'\n'}"
    body=${body%$'\n'*}
    case $status in
      2??) echo "$body"; return ;;
      000 | 409 | 429 | 5??) ;;
      *) break ;;
    esac
    if [[ $body == *send_cap_reached* ]] || ((${retry_after:-0} > 60 || attempt == 5)); then break; fi
    sleep $((${retry_after:-0} + 2 ** attempt)).$((RANDOM % 10))
  done
  echo "$status $body" >&2
  return 1
}

send '{ "title": "Doors open at eight", "body": "Your seat is 14C." }'
