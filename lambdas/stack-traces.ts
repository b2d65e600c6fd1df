import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/**
 * Makes stack traces point to the sources, and not to the bundle that contains this file. Node's `--enable-source-maps`
 * reads the source map at each cold start; this reads it for the first stack trace.
 */
Error.prepareStackTrace = (error, frames) => {
  const places = frames.map((frame) => `\n    at ${inSources(frame)}`);
  return Error.prototype.toString.call(error) + places.join('');
};

let sourceMap: SourceMap | undefined;

function inSources(frame: NodeJS.CallSite): string {
  const text = String(frame);
  if (frame.getFileName() !== __filename) return text;
  const line = frame.getLineNumber() ?? 0;
  const column = frame.getColumnNumber() ?? 0;
  try {
    sourceMap ??= new SourceMap(JSON.parse(readFileSync(`${__filename}.map`, 'utf8')));
    const origin = sourceMap.findOrigin(line, column);
    if (!('fileName' in origin)) return text;
    const { fileName, lineNumber, columnNumber } = origin;
    return text.replace(
      `${__filename}:${line}:${column}`,
      `${fileName}:${lineNumber}:${columnNumber}`,
    );
  } catch {
    // Too many files are open, for example. Otherwise the error itself would not be logged.
    return text;
  }
}
