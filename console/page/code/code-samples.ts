import { shellString } from '../../../contract/text/text.ts';
import type { SendRequest } from '../../../contract/wire/notification.ts';
import { pathOf } from '../../../contract/wire/path-of.ts';
import { routes } from '../../../contract/wire/routes.ts';
import {
  goRawString,
  javaScriptLiteral,
  javaScriptString,
  jsonOf,
  phpString,
  pythonLiteral,
} from './json-literals.ts';

/** Names for people, in the order of the tabs. */
export const sampleLanguages = {
  curl: 'curl',
  node: 'Node.js',
  python: 'Python',
  php: 'PHP',
  go: 'Go',
} as const;
export type SampleLanguage = keyof typeof sampleLanguages;

/** A send as the console's form has it. */
export interface SampleSend {
  /** Address of the service, without a path. */
  readonly baseUrl: string;
  readonly projectId: string;
  readonly notification: SendRequest;
  /** Whether the service responds before the delivery. */
  readonly respondAsync: boolean;
}

/**
 * A complete program that sends the notification once. It reads the secret key from the environment
 * variable CARILLON_SECRET_KEY, and does not follow redirects: they would get the key.
 */
export function codeSample(language: SampleLanguage, send: SampleSend): string {
  const url = `${send.baseUrl}${pathOf(routes.send, { projectId: send.projectId })}`;
  return programs[language]({ ...send, url, json: jsonOf(send.notification) });
}

interface Program extends SampleSend {
  readonly url: string;
  /** The notification. */
  readonly json: string;
}

/** A comment of the samples that do not retry. Short lines: the console is narrow. @param mark starts a comment. */
const retries = (mark: string, anchor: string) => `\
${mark} One attempt. To retry, use the same key:
${mark} docs/sending.md#${anchor}`;

const curl = ({ url, json, respondAsync }: Program) => `\
# In Bash.
${retries('#', 'curl')}
key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')
# Every user of the machine can see arguments:
# the secret key is passed as a file.
# A redirect is an error (-L with 0 redirects).
curl -sS --fail-with-body -L --max-redirs 0 --max-time 35 \\
  ${shellString(url)} \\
  -H @<(echo "Authorization: Bearer \${CARILLON_SECRET_KEY:?}") \\
  -H 'Content-Type: application/json' -H "Idempotency-Key: $key" \\
${respondAsync ? "  -H 'Prefer: respond-async' \\\n" : ''}\
  --data-binary ${shellString(json)}
`;

const node = ({ baseUrl, projectId, json, respondAsync }: Program) => `\
import { CarillonServer } from 'carillon/server';

const carillon = new CarillonServer({
  baseUrl: ${javaScriptString(baseUrl)},
  projectId: ${javaScriptString(projectId)},
  secretKey: process.env.CARILLON_SECRET_KEY,
});

const notification = ${javaScriptLiteral(json)};

// After a failure, repeats it with the same key:
// docs/sending.md#nodejs
const result = await carillon.send(notification, {
  idempotencyKey: crypto.randomUUID(),
${respondAsync ? '  respondAsync: true,\n' : ''}\
});
console.log(JSON.stringify(result));
`;

const python = ({ url, json, respondAsync }: Program) => `\
import json, os, sys, urllib.error, urllib.request, uuid

notification = ${pythonLiteral(json)}

headers = {
    "Authorization": f"Bearer {os.environ['CARILLON_SECRET_KEY']}",
    "Content-Type": "application/json",
${retries('    #', 'python')}
    "Idempotency-Key": str(uuid.uuid4()),
${respondAsync ? '    "Prefer": "respond-async",\n' : ''}\
}
class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # The secret key would go to the other address.

request = urllib.request.Request(
    ${pythonLiteral(jsonOf(url))}, json.dumps(notification).encode(), headers
)
try:
    opener = urllib.request.build_opener(NoRedirects)
    with opener.open(request, timeout=35) as response:
        print(response.read().decode())
except urllib.error.HTTPError as error:
    sys.exit(f"{error.code}: {error.read().decode()}")
`;

const php = ({ url, json, respondAsync }: Program) => `\
<?php
$notification = <<<'JSON'
${json}
JSON;

$request = curl_init(${phpString(url)});
curl_setopt_array($request, [
    CURLOPT_HTTPHEADER => [
        'Authorization: Bearer ' . getenv('CARILLON_SECRET_KEY'),
        'Content-Type: application/json',
${retries('        //', 'php')}
        'Idempotency-Key: ' . bin2hex(random_bytes(16)),
${respondAsync ? "        'Prefer: respond-async',\n" : ''}\
    ],
    CURLOPT_POSTFIELDS => $notification,
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_TIMEOUT => 35,
]);
$body = curl_exec($request);
$status = curl_getinfo($request, CURLINFO_RESPONSE_CODE);
if ($body === false || $status >= 300) {
    throw new RuntimeException($body === false ? curl_error($request) : "$status: $body");
}
echo $body, "\\n";
`;

const go = ({ url, json, respondAsync }: Program) => `\
package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

const notification = ${goRawString(json)}

func main() {
	key := make([]byte, 16)
	rand.Read(key)
	request, err := http.NewRequest("POST", ${jsonOf(url)}, strings.NewReader(notification))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("CARILLON_SECRET_KEY"))
	request.Header.Set("Content-Type", "application/json")
${retries('\t//', 'go')}
	request.Header.Set("Idempotency-Key", fmt.Sprintf("%x", key))
${respondAsync ? '\trequest.Header.Set("Prefer", "respond-async")\n' : ''}\
	client := http.Client{
		Timeout: 35 * time.Second,
		// The secret key would go to the other address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode >= 300 {
		log.Fatalf("%s: %s", response.Status, body)
	}
	fmt.Println(string(body))
}
`;

const programs: Readonly<Record<SampleLanguage, (program: Program) => string>> = {
  curl,
  node,
  python,
  php,
  go,
};
