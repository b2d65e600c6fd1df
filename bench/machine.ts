import { cpus, totalmem } from 'node:os';

/** The hardware and software that results depend on. */
export function machine() {
  const { model = 'unknown' } = cpus()[0] ?? {};
  return {
    cpu: model.trim(),
    cores: cpus().length,
    memoryGB: Math.round(totalmem() / 1024 ** 3),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
    openssl: process.versions.openssl!,
  };
}

export function describeMachine(): string {
  const { cpu, cores, memoryGB, system, node, openssl } = machine();
  return `${cores} × ${cpu}, ${memoryGB} GB, ${system}, Node ${node}, OpenSSL ${openssl}`;
}
