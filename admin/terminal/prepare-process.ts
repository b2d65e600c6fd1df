/** Sets up the process of a command. */
export function prepareProcess(): void {
  // The AWS SDK's warning about old Node.js versions does not concern the operator.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

  // `carillon list | head` closes the output before its end: that is no fault.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit();
    });
  }
}
