# SPDX-License-Identifier: Apache-2.0
# Sidekiq for the tests: ruby engine.rb PORT.
#
# It reads commands from standard input, and answers each with lines and "ok":
#
#     add QUEUE NAME [SPEC]  adds a job of a class; {"in": seconds, "retry": number}
#     work QUEUE             starts a process of Sidekiq
#     kill                   kills the processes
#     report                 at QUEUE PLACE ID SINCE of each job, by Sidekiq's API
#
# A Hold never ends, a Fail raises an error, others end.

require 'json'
require 'sidekiq'
require 'sidekiq/api'

class Hold
  include Sidekiq::Worker

  def perform = sleep
end

class Fail
  include Sidekiq::Worker

  sidekiq_retry_in { 3600 }

  def perform = raise('out of paper')
end

class Send
  include Sidekiq::Worker

  def perform = nil
end

# Of a process of Sidekiq, which loads this file.
return if $PROGRAM_NAME != __FILE__

$stdout.sync = true
port = ARGV[0]
Sidekiq.configure_client { |config| config.redis = { url: "redis://127.0.0.1:#{port}" } }
workers = []
kill = lambda do
  workers.each { |w| Process.kill(:KILL, w) && Process.wait(w) }
  workers.clear
end

at = ->(queue, place, id, time) { puts "at #{queue} #{place} #{id} #{(time.to_f * 1000).to_i}" }

report = lambda do
  Sidekiq::Queue.all.each { |q| q.each { |j| at.(q.name, 'waiting', j.jid, j.enqueued_at) } }
  Sidekiq::Workers.new.each { |_, _, w| at.(w['queue'], 'running', w['payload']['jid'], w['run_at']) }
  Sidekiq::ScheduledSet.new.each { |j| at.('all-queues', 'delayed', j.jid, j.created_at) }
  Sidekiq::RetrySet.new.each { |j| at.('all-queues', 'retry', j.jid, j['retried_at'] || j['failed_at']) }
  Sidekiq::DeadSet.new.each { |j| at.('all-queues', 'failed', j.jid, j.at) }
end

puts 'ok'
$stdin.each_line do |line|
  command, *args = line.split
  case command
  when 'add'
    spec = JSON.parse(args[2] || '{}')
    item = { 'class' => args[1], 'queue' => args[0], 'args' => [] }
    item['at'] = Time.now.to_f + spec['in'] if spec['in']
    item['retry'] = spec['retry'] if spec['retry']
    Sidekiq::Client.push(item)
  when 'work'
    workers << spawn({ 'REDIS_URL' => "redis://127.0.0.1:#{port}" }, 'sidekiq', '-r', __FILE__, '-q', *args, '-c', '3', out: File::NULL, err: File::NULL, in: File::NULL)
  when 'kill' then kill.call
  when 'report' then report.call
  end
  puts 'ok'
rescue StandardError => e
  puts "error #{e.full_message.tr("\n", ' ')}"
end
kill.call
