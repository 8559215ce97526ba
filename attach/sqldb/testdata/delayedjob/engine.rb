# SPDX-License-Identifier: Apache-2.0

# Delayed Job for tests. The argument is the address of a database, whose table it makes. It answers
# commands, one a line, with lines that end with "ok" or "error …", and ends at the end of its input.
# Workers are processes of their own: a second argument is the name of one.

require "erb"
require "logger"
require "delayed_job_active_record"

$stdout.sync = true
ActiveRecord::Base.establish_connection(ARGV[0])
ActiveRecord::Base.logger = Delayed::Worker.logger = Logger.new(nil)
Delayed::Worker.destroy_failed_jobs = false

Quick = Struct.new(:of) do
  def perform; end
end

Holds = Struct.new(:of) do
  def perform
    sleep
  end
end

Fails = Struct.new(:of) do
  def perform
    raise "out of paper"
  end

  def reschedule_at(now, _attempts)
    now + 3600
  end
end

class Dead < Fails
  def max_attempts
    1
  end
end

# What is delayed by its method.
class Press
  def print; end
end

if ARGV[1]
  worker = Delayed::Worker.new
  worker.name = ARGV[1]
  puts "ok"
  Thread.new do # the input ends with the process that started it
    $stdin.read
    exit!
  end
  loop do
    worker.work_off(1)
    sleep 0.1
  end
end

# The table is that of the library's generator.
template = Gem.loaded_specs["delayed_job_active_record"].full_gem_path + "/lib/generators/delayed_job/templates/migration.rb"
migration_version = "[#{ActiveRecord::VERSION::STRING.to_f}]"
eval ERB.new(File.read(template)).result(binding) # rubocop:disable Security/Eval
ActiveRecord::Migration.suppress_messages { CreateDelayedJobs.up }

def run(words, workers)
  case words[0]
  when "enqueue" # CLASS SECONDS
    at = Time.now.utc + words[2].to_i
    if words[1] == "Press"
      Press.new.delay(queue: "print", run_at: at).print
    else
      Delayed::Job.enqueue(Object.const_get(words[1]).new(1), run_at: at)
    end
  when "work" # NAME
    workers[words[1]] = IO.popen([RbConfig.ruby, __FILE__, ARGV[0], words[1]], "r+")
    workers[words[1]].gets
  when "kill" # NAME
    Process.kill(:KILL, workers[words[1]].pid)
    workers.delete(words[1]).close
  when "report"
    Delayed::Job.all.each do |j|
      net = j.payload_object.is_a?(Delayed::PerformableMethod) ? j.name.sub("#", ".") : j.name
      state = j.failed_at ? "failed" : j.locked_at ? "locked" : "waits"
      puts "state #{net} #{j.id} #{state}", "job #{net} #{j.id} #{net} - #{(j.run_at.to_f * 1000).to_i}"
      since = j.attempts.zero? ? j.run_at : j.created_at
      puts "at #{net} #{j.id} job #{(since.to_f * 1000).to_i}" if j.attempts.positive? || j.locked_at || j.run_at <= Time.now.utc
    end
  else
    raise "unknown command #{words[0]}"
  end
end

puts "ok"
workers = {}
while (line = $stdin.gets)
  begin
    run(line.split, workers)
    puts "ok"
  rescue StandardError => e
    puts "error #{e.message.tr("\n", " ")}"
  end
end
