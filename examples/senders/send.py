import http.client, json, os, random, time, urllib.error, urllib.request, uuid

class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # The secret key would go to the other address.

opener = urllib.request.build_opener(NoRedirects)

# Without white space: an error about a line break in a header would print the key.
secret_key = "".join(os.environ["CARILLON_SECRET_KEY"].split())

def send(notification, idempotency_key=None):
    url = f"{os.environ['CARILLON_BASE_URL'].rstrip('/')}/api/v1/projects/{os.environ['CARILLON_PROJECT']}/notifications"
    headers = {
        "Authorization": b"Bearer " + secret_key.encode(),
        "Content-Type": "application/json",
        "Idempotency-Key": idempotency_key or str(uuid.uuid4()),
    }
    request = urllib.request.Request(url, json.dumps(notification).encode(), headers)
    for attempt in range(6):
        try:
            with opener.open(request, timeout=35) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            body = error.read().decode(errors="replace")
            failure = RuntimeError(f"{error.code}: {body}")
            retry_after = int(error.headers.get("Retry-After") or 0)
            transient = error.code in (409, 429) or error.code >= 500
            if not transient or "send_cap_reached" in body or retry_after > 60:
                raise failure
        except (OSError, http.client.HTTPException) as error:
            failure, retry_after = error, 0
        if attempt < 5:
            time.sleep(retry_after + 2**attempt * random.uniform(0.5, 1))
    raise failure

print(send({"title": "Doors open at eight", "body": "Your seat is 14C."}))
