import { join } from 'node:path';
import { Argument, Command } from 'commander';
import { withExamples } from '../terminal/command-line.ts';
import type { Output } from '../terminal/terminal.ts';

/** The command for which shells complete. The script defines it. */
const name = 'carillon';

const root = join(import.meta.dirname, '../..');

/** Without npm, so that the names of files are those of the folder that the person is in. */
const call = `'${root}/node_modules/.bin/tsx' '${root}/bin/carillon.ts'`;

/** Prints the script by which a shell completes commands and options. */
export function completionCommand(output: Output): Command {
  const command = new Command('completion')
    .description(
      `Prints a script for your shell: it defines ${name}, and completes commands and options.`,
    )
    .addArgument(new Argument('<shell>').choices(Object.keys(scripts)))
    .action((shell: keyof typeof scripts) => {
      output.write(scripts[shell](wordsByPath(command.parent!)));
    });
  return withExamples(command, 'bash', 'zsh', 'fish');
}

/** The words that may follow a command, by its names: `''`, `send`, `users export`. */
type Words = ReadonlyMap<string, readonly string[]>;

function wordsByPath(program: Command): Words {
  const common = optionsOf(program);
  const words = new Map<string, readonly string[]>();
  function add(command: Command, path: readonly string[]): void {
    const names = command.commands.map((one) => one.name());
    const own = command === program ? [] : optionsOf(command);
    words.set(path.join(' '), [...names, ...own, ...common, '--help']);
    for (const one of command.commands) add(one, [...path, one.name()]);
  }
  add(program, []);
  return words;
}

const optionsOf = ({ options }: Command) => options.map(({ long }) => long!);

const scripts = { bash, zsh, fish } as const;

/** Where no word fits, bash completes files: the argument of an import, for example. */
function bash(words: Words): string {
  const cases = [...words].map(([path, list]) => `    '${path}') words='${list.join(' ')}' ;;\n`);
  return `${name}() { ${call} "$@"; }
_${name}() {
  local word path='' words=''
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "\${path:+$path }$word" in ${pathsOf(words).join('|')}) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases.join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${name} ${name}
`;
}

/** zsh runs bash's functions. */
function zsh(words: Words): string {
  return `autoload -U +X compinit && compinit -i\nautoload -U +X bashcompinit && bashcompinit\n${bash(words)}`;
}

/** fish completes files too, except (-f) where the name of a command must follow. */
function fish(words: Words): string {
  const lines = [...words].map(([path, list]) => {
    const noFiles = list[0]!.startsWith('--') ? '' : '-f ';
    return `complete -c ${name} ${noFiles}-n '__${name}_is "${path}"' -a '${list.join(' ')}'\n`;
  });
  return `function ${name}; ${call} $argv; end
function __${name}_is
  set -l path ''
  for word in (commandline -opc)[2..-1]
    contains -- (string trim "$path $word") ${pathsOf(words).join(' ')}
    and set path (string trim "$path $word")
  end
  test "$path" = "$argv[1]"
end
${lines.join('')}`;
}

/** The commands, quoted for a shell. */
function pathsOf(words: Words): readonly string[] {
  return [...words.keys()].filter(Boolean).map((path) => `'${path}'`);
}
